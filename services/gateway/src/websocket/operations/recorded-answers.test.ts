import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { openReady } from '../../../test/suite/raw-socket.ts';
import { callsIn } from '../../../test/suite/records/recorded-usage.ts';
import { say, startScriptedUpstream } from '../../../test/suite/upstreams/scripted-upstream.ts';
import type { ScriptedUpstream } from '../../../test/suite/upstreams/scripted-upstream.ts';

let upstream: ScriptedUpstream;
let gateway: GatewayUnderTest;
let sent = 0;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  gateway = await startGateway({ env: { UPSTREAM_WS_URL: upstream.url, SETTLEMENT_TIMEOUT_MS: '300' } });
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const QUERY = { type: 'subscribe', payload: { query: '{ a }' } };

test('kill -9 of a gateway: every answer over a socket that its caller saw is recorded, and none twice', async () => {
  upstream.onMessage(({ type, id = '' }, socket) => {
    if (type === 'connection_init') say(socket, { type: 'connection_ack' });
    if (type !== 'subscribe') return;
    sent += 1;
    say(socket, { type: 'next', id, payload: { data: null, extensions: { points: 1 } } });
    say(socket, { type: 'complete', id });
  });
  const doomed = await gateway.startTwin();
  const url = `${doomed.process.publicUrl.replace('http', 'ws')}/graphql`;
  let answered = 0;
  for (let index = 0; index < 8; index += 1) {
    const { socket } = await openReady(url, gateway.auth.issue());
    let asked = 0;
    const ask = () => {
      asked += 1;
      socket.send(JSON.stringify({ id: String(asked), ...QUERY }));
    };
    socket.on('message', (data: Buffer) => {
      const { type } = JSON.parse(data.toString()) as { type: string };
      if (type === 'next') answered += 1;
      if (type === 'complete') ask();
    });
    ask();
  }
  await waitFor(() => answered > 200);
  await doomed.process.kill();
  const events = await gateway.usage(0);
  const points = events.reduce((sum, event) => sum + event.points, 0);
  expect(callsIn(events)).toBeGreaterThanOrEqual(answered);
  expect(callsIn(events)).toBeLessThanOrEqual(sent);
  expect(points).toBe(callsIn(events));
});

test('an answer that Redis doesn’t acknowledge in time is an error, and is counted once when Redis is back', async () => {
  const recorded = callsIn(await gateway.usage(0));
  const answer = Promise.withResolvers<() => void>();
  upstream.onMessage(({ type, id = '' }, socket) => {
    if (type === 'connection_init') say(socket, { type: 'connection_ack' });
    if (type !== 'subscribe') return;
    answer.resolve(() => {
      say(socket, { type: 'next', id, payload: { data: null } });
      say(socket, { type: 'complete', id });
    });
  });
  const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), gateway.auth.issue());
  raw.send({ id: '1', ...QUERY });
  const send = await answer.promise;
  await gateway.redis.kill();
  send();
  expect((await raw.message({ type: 'error', id: '1' })).payload).toMatchObject([
    { extensions: { code: 'service_unavailable' } },
  ]);
  expect(raw.received.some(({ type }) => type === 'next')).toBe(false);
  await gateway.redis.restart();
  await waitFor(async () => callsIn(await gateway.usage(0)) === recorded + 1);
  raw.socket.close();
});
