import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { begin, documentOf } from '../../../test/suite/http-client.ts';
import { watchUpstream } from '../../../test/suite/upstreams/watch-upstream.ts';
import { callsIn } from '../../../test/suite/records/recorded-usage.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      UPSTREAM_CONNECTIONS: '4',
    },
  });
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

/** Begins a call with a small body. */
function start(token = gateway.auth.issue()) {
  return begin(gateway.graphqlUrl, { headers: { authorization: `Bearer ${token}` }, body: '{}' });
}

test('a caller that goes away within the answer ends the upstream call, and what was answered counts', async () => {
  const before = callsIn(await gateway.usage(0));
  const ended = new Promise((resolve) => {
    gateway.upstream((_req, res) => {
      res.writeHead(200, { 'x-points': '5' });
      res.write('0123456789');
      res.once('close', resolve);
    });
  });
  const { request, answer } = start(gateway.auth.issue({ accountId: 900 }));
  const response = await answer;
  await once(response, 'data');
  request.socket?.resetAndDestroy();
  await ended;
  const usage = await gateway.usage(before + 1);
  expect(usage.filter(({ account_id }) => account_id === 900)).toMatchObject([
    { points: 5, requests: 1, traffic_bytes: 10 },
  ]);
});

test('a caller that goes away while it waits for a connection does not cost the pool one', async () => {
  const sockets = new Set<unknown>();
  const held: (() => void)[] = [];
  gateway.upstream((req, res) => {
    sockets.add(req.socket);
    req.resume();
    held.push(() => res.end('{}'));
  });
  const busy = Array.from({ length: 4 }, () => start().answer);
  await waitFor(() => held.length === 4);
  const waiting = start();
  waiting.answer.catch(() => undefined);
  await waitFor(async () => (await gateway.metric('tollgate_data_calls_in_flight')) === 5);
  waiting.request.socket?.resetAndDestroy();
  await waitFor(async () => (await gateway.metric('tollgate_data_calls_in_flight')) === 4);
  for (const finish of held.splice(0)) finish();
  for (const answer of await Promise.all(busy)) await once(answer.resume(), 'end');
  const again = start().answer;
  await waitFor(() => held.length === 1);
  held[0]?.();
  expect((await again).statusCode).toBe(200);
  expect(sockets.size).toBe(4);
});

test('a caller that goes away within its request body: the upstream hears nothing of it', async () => {
  const seen = watchUpstream(gateway);
  const { request, answer } = begin(gateway.graphqlUrl, {
    headers: { authorization: `Bearer ${gateway.auth.issue()}`, 'content-length': 1_000_000 },
    body: documentOf(100_000),
  });
  answer.catch(() => undefined);
  await waitFor(async () => (await gateway.metric('tollgate_data_calls_in_flight')) === 1);
  request.destroy();
  await waitFor(async () => (await gateway.metric('tollgate_data_calls_in_flight')) === 0);
  expect(seen).toEqual([]);
});

test('after 200 callers who hung up at any moment, every connection is free again', async () => {
  gateway.upstream((_req, res) => {
    res.writeHead(200);
    const timer = setInterval(() => res.write('x'.repeat(10_000)), 5);
    res.once('close', () => {
      clearInterval(timer);
    });
  });
  const token = gateway.auth.issue();
  await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const { request, answer } = start(token);
      answer.then(
        (response) => response.resume(),
        () => undefined,
      );
      request.on('error', () => undefined);
      await new Promise((resolve) => setTimeout(resolve, (index * 7) % 100));
      request.socket?.resetAndDestroy();
    }),
  );
  await waitFor(async () => (await gateway.metric('tollgate_data_calls_in_flight')) === 0);
  gateway.upstream(answerOk);
  const answers = await Promise.all(Array.from({ length: 4 }, () => gateway.query()));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});
