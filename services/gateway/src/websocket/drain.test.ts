import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { waitFor } from '@tollgate/stack/wait-for';
import { ownProcesses } from '@tollgate/testbed/config';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { startGraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import { call } from '../../test/suite/http-client.ts';
import { startLoadBalancer } from '../../test/suite/load/load-balancer.ts';
import { openReady, openRaw } from '../../test/suite/raw-socket.ts';
import type { RawSocket } from '../../test/suite/raw-socket.ts';
import { say, startScriptedUpstream } from '../../test/suite/upstreams/scripted-upstream.ts';

ownProcesses();

let gateway: GatewayUnderTest;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  await gateway.stop();
  for (const close of closing.splice(0)) await close();
});

const urlOf = ({ graphqlUrl }: GatewayUnderTest) => graphqlUrl.replace('http', 'ws');
const shuttingDown = () => waitFor(() => gateway.process.logs().includes('shutting down'));

async function startScripted(env: Record<string, string>) {
  const upstream = await startScriptedUpstream();
  closing.push(upstream.close);
  gateway = await startGateway({ env: { UPSTREAM_WS_URL: upstream.url, ...env } });
  return upstream;
}

test('a shutdown waits for queries that were sent, records them, and closes with 1012', async () => {
  const upstream = await startScripted({});
  const sent = Promise.withResolvers<() => void>();
  upstream.onMessage(({ type, id = '' }, socket) => {
    if (type === 'connection_init') say(socket, { type: 'connection_ack' });
    if (type === 'subscribe') {
      sent.resolve(() => {
        say(socket, { type: 'next', id, payload: { data: null, extensions: { points: 9 } } });
        say(socket, { type: 'complete', id });
      });
    }
  });
  const [asking, idle] = [
    await openReady(urlOf(gateway), gateway.auth.issue()),
    await openReady(urlOf(gateway), gateway.auth.issue()),
  ];
  asking.send({ id: '1', type: 'subscribe', payload: { query: 'mutation { a }' } });
  const answer = await sent.promise;
  const stopped = gateway.process.stop();
  expect((await idle.closed).code).toBe(1012);
  expect(asking.socket.readyState).toBe(asking.socket.OPEN);
  answer();
  await asking.message({ type: 'complete', id: '1' });
  expect((await asking.closed).code).toBe(1012);
  expect((await stopped).code).toBe(0);
  expect((await gateway.usage(1)).reduce((sum, { points }) => sum + points, 0)).toBe(9);
});

test('a query without an answer gets an error before its socket is closed, and the process ends well', async () => {
  const upstream = await startScripted({ SHUTDOWN_TIMEOUT_MS: '2000' });
  upstream.onMessage(({ type }, socket) => {
    if (type === 'connection_init') say(socket, { type: 'connection_ack' });
  });
  const raw = await openReady(urlOf(gateway), gateway.auth.issue());
  raw.send({ id: '1', type: 'subscribe', payload: { query: 'mutation { a }' } });
  await waitFor(() => upstream.received.some(({ id }) => id === '1'));
  expect((await gateway.process.stop()).code).toBe(0);
  expect((await raw.message({ type: 'error', id: '1' })).payload).toMatchObject([
    { extensions: { code: 'service_unavailable' } },
  ]);
  expect((await raw.closed).code).toBe(1012);
});

test('an upgrade on a kept connection during a drain is accepted, and closed with 1012', async () => {
  gateway = await startGateway({ env: { SHUTDOWN_IDLE_GRACE_MS: '2000' } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const authorization = `Bearer ${gateway.auth.issue()}`;
  const sent = request(gateway.graphqlUrl, {
    agent,
    method: 'POST',
    headers: { authorization, 'content-length': 2, 'content-type': 'application/json' },
  });
  sent.end('{}');
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  await once(answer.resume(), 'end');
  const stopped = gateway.process.stop();
  await shuttingDown();
  const raw = await openRaw(urlOf(gateway), { agent, headers: { authorization } });
  expect(await raw.closed).toMatchObject({ code: 1012, reason: expect.stringMatching(/^service_restart/) });
  expect((await stopped).code).toBe(0);
  agent.destroy();
});

test('SHUTDOWN_DELAY_MS: readiness fails at once, and for so long all goes on as before', async () => {
  gateway = await startGateway({ env: { SHUTDOWN_DELAY_MS: '600000' } });
  const stopped = gateway.process.stop();
  await shuttingDown();
  const readiness = await call(`${gateway.process.privateUrl}/health/ready`, { method: 'GET' });
  expect([readiness.status, readiness.json()]).toEqual([
    503,
    expect.objectContaining({ status: 'draining' }),
  ]);
  expect((await gateway.query()).status).toBe(200);
  const raw = await openReady(urlOf(gateway), gateway.auth.issue());
  expect(raw.socket.readyState).toBe(raw.socket.OPEN);
  // A second signal ends the wait.
  void gateway.process.stop();
  expect((await raw.closed).code).toBe(1012);
  expect((await stopped).code).toBe(0);
});

test('a rolling restart behind a load balancer: no upgrade fails, and every socket is closed with 1012', async () => {
  const upstream = await startGraphqlUpstream();
  closing.push(upstream.close);
  gateway = await startGateway({ env: { UPSTREAM_WS_URL: upstream.url, SHUTDOWN_DELAY_MS: '2000' } });
  const balancer = await startLoadBalancer();
  closing.push(balancer.close);
  balancer.add(gateway.process);
  const second = await gateway.startTwin();
  balancer.add(second.process);
  const url = `ws://127.0.0.1:${String(balancer.port)}/graphql`;
  const token = gateway.auth.issue();
  const open = new Set<RawSocket>();
  const outcomes: Record<string, number> = {};
  const count = (outcome: string) => (outcomes[outcome] = (outcomes[outcome] ?? 0) + 1);
  let done = false;

  /** Opens a socket as soon as the last one is closed; `lasting` ones stay until the gateway closes them. */
  async function caller(lasting: boolean): Promise<void> {
    while (!done) {
      try {
        const raw = await openRaw(url, { headers: { authorization: `Bearer ${token}` } });
        open.add(raw);
        raw.send({ type: 'connection_init' });
        const query = `subscription { ticks${lasting ? '' : '(count: 3)'} }`;
        void raw
          .message({ type: 'connection_ack' })
          .then(() => {
            raw.send({ id: '1', type: 'subscribe', payload: { query } });
          })
          .catch(() => count('no acknowledgement'));
        if (!lasting) {
          const isOver = () => raw.received.some(({ type }) => type === 'complete');
          await waitFor(() => isOver() || raw.socket.readyState === raw.socket.CLOSED);
          if (isOver()) raw.socket.close(1000);
        }
        count(String((await raw.closed).code));
        open.delete(raw);
      } catch (error) {
        count(String(error));
      }
    }
  }

  const callers = [
    ...Array.from({ length: 10 }, () => caller(true)),
    ...[1, 2, 3, 4].map(() => caller(false)),
  ];
  const opened = () => open.size >= 10 && (outcomes['1000'] ?? 0) > 20;
  try {
    await waitFor(opened);
    expect((await second.process.stop()).code).toBe(0);
    const third = await gateway.startTwin();
    balancer.add(third.process);
    outcomes['1000'] = 0;
    await waitFor(opened);
    expect((await gateway.process.stop()).code).toBe(0);
    outcomes['1000'] = 0;
    await waitFor(opened);
  } finally {
    done = true;
  }
  for (const raw of open) raw.socket.close(1000);
  await Promise.all(callers);
  expect(Object.keys(outcomes).sort()).toEqual(['1000', '1012']);
  expect(outcomes['1012']).toBeGreaterThanOrEqual(10);
  expect(balancer.turnedAway()).toBe(0);
});
