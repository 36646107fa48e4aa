import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { WebSocket } from 'ws';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { openReady } from '../../../test/suite/raw-socket.ts';
import { say, startScriptedUpstream } from '../../../test/suite/upstreams/scripted-upstream.ts';
import type { ScriptedUpstream } from '../../../test/suite/upstreams/scripted-upstream.ts';
import { startServer } from '../../../test/suite/upstreams/server.ts';

let upstream: ScriptedUpstream;
let gateway: GatewayUnderTest;
let url: string;
let account = 200;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const gone = await startServer(() => undefined);
  await gone.close();
  gateway = await startGateway({
    env: {
      // One of the two addresses is dead in every test.
      UPSTREAM_WS_URL: `${gone.url.replace('http', 'ws')}/graphql ${upstream.url}`,
      UPSTREAM_EJECTION_MIN_MS: '600000',
      UPSTREAM_EJECTION_MAX_MS: '600000',
      UPSTREAM_HEADERS_TIMEOUT_MS: '1000',
      WEBSOCKET_STALL_TIMEOUT_MS: '1000',
      WEBSOCKET_RECONNECT_SPREAD_MS: '0',
    },
  });
  url = gateway.graphqlUrl.replace('http', 'ws');
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

beforeEach(() => {
  account += 1;
  upstream.received.length = 0;
});

const ready = () => openReady(url, gateway.auth.issue({ accountId: account }));
const subscribe = (id: string, padding = '') => ({
  id,
  type: 'subscribe',
  payload: { query: 'subscription { a }', variables: { padding } },
});

function answerBy(act: (id: string, socket: WebSocket) => void): void {
  upstream.onMessage(({ type, id = '' }, socket) => {
    if (type === 'connection_init') say(socket, { type: 'connection_ack' });
    if (type === 'subscribe') act(id, socket);
  });
}

const answer = (id: string, socket: WebSocket) => {
  say(socket, { type: 'next', id, payload: { data: null } });
};

async function usageOfAccount(accountId: number) {
  return (await gateway.usage(0)).filter(({ account_id }) => account_id === accountId);
}

test('an address that is gone costs no operation: the second attempt finds the other, and it is ejected', async () => {
  answerBy(answer);
  for (let index = 0; index < 10; index += 1) {
    const raw = await ready();
    raw.send(subscribe('1'));
    await raw.message({ type: 'next', id: '1' });
    raw.socket.close();
  }
  expect(await gateway.metric('tollgate_upstream_failures_total', { kind: 'connect' })).toBe(5);
  expect(await gateway.metric('tollgate_upstream_ejections_total')).toBe(1);
});

test('one that never acknowledges: clients are told in time to come back, and the operation costs nothing', async () => {
  upstream.onMessage(() => undefined);
  const raw = await ready();
  raw.send(subscribe('1'));
  expect(await raw.closed).toMatchObject({ code: 1013, reason: expect.stringMatching(/^upstream_timeout/) });
  expect(raw.received.some(({ id }) => id === '1')).toBe(false);
  answerBy(answer);
  const again = await ready();
  again.send(subscribe('1'));
  await again.message({ type: 'next', id: '1' });
  again.send({ id: '1', type: 'complete' });
  await waitFor(async () => (await usageOfAccount(account)).length > 0);
  again.socket.close();
  await waitFor(async () => (await gateway.metric('tollgate_websockets_open')) === 0);
  const events = await usageOfAccount(account);
  expect(events.reduce((sum, { requests }) => sum + requests, 0)).toBe(1);
});

test('one that breaks off: 1012; what was answered is counted once, what was not costs nothing', async () => {
  answerBy((id, socket) => {
    if (id === 'answered') answer(id, socket);
    else socket.terminate();
  });
  const raw = await ready();
  raw.send(subscribe('answered'));
  await raw.message({ type: 'next' });
  raw.send(subscribe('unanswered'));
  expect(await raw.closed).toMatchObject({ code: 1012, reason: expect.stringMatching(/^upstream_closed/) });
  await waitFor(async () => (await usageOfAccount(account)).length > 0);
  const events = await usageOfAccount(account);
  expect(events.reduce((sum, { requests }) => sum + requests, 0)).toBe(1);
});

test.each([
  [4444, 'of its own', 4444, /^of its own$/],
  [4401, 'its own token', 1011, /^upstream_closed/],
  [1001, 'restarting', 1012, /^upstream_closed/],
  [1000, '', 1012, /^upstream_closed/],
  [1011, 'its own fault', 1011, /^upstream_closed/],
])('one that closes with %s while an operation is open', async (code, reason, expected, said) => {
  answerBy((_id, socket) => {
    socket.close(code, reason);
  });
  const raw = await ready();
  raw.send(subscribe('1'));
  expect(await raw.closed).toMatchObject({ code: expected, reason: expect.stringMatching(said) });
});

test('one that closes an idle connection: the socket stays, the next operation opens another one', async () => {
  answerBy((id, socket) => {
    say(socket, { type: 'complete', id });
    socket.close(1000);
  });
  const raw = await ready();
  for (const id of ['1', '2', '3']) {
    raw.send(subscribe(id));
    await raw.message({ type: 'complete', id });
    await waitFor(() => upstream.sockets().length === 0);
  }
  expect(raw.socket.readyState).toBe(raw.socket.OPEN);
  raw.socket.close();
});

test('one that speaks no GraphQL: 1011', async () => {
  for (const noise of ['no json', Buffer.from([1, 2, 3])]) {
    answerBy((_id, socket) => {
      socket.send(noise);
    });
    const raw = await ready();
    raw.send(subscribe('1'));
    expect(await raw.closed).toMatchObject({ code: 1011 });
  }
});

test('one that reads nothing: the caller is not read either, and after the time limit the socket is closed', async () => {
  answerBy((_id, socket) => {
    socket.pause();
  });
  const before = await gateway.metric('tollgate_websocket_message_bytes_total', { direction: 'to_upstream' });
  const raw = await ready();
  raw.send(subscribe('first'));
  await waitFor(() => upstream.received.some(({ id }) => id === 'first'));
  for (let index = 0; index < 99; index += 1) raw.send(subscribe(String(index), 'x'.repeat(250_000)));
  expect(await raw.closed).toMatchObject({ code: 1013, reason: expect.stringMatching(/^upstream_timeout/) });
  const after = await gateway.metric('tollgate_websocket_message_bytes_total', { direction: 'to_upstream' });
  // The bound and the kernel's buffers, not the 25 MB that the caller has.
  expect(after - before).toBeLessThan(15_000_000);
});
