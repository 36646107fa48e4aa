import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { waitFor } from '@tollgate/stack/wait-for';
import { ownProcesses } from '@tollgate/testbed/config';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { startGraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import { openRaw, openReady, refusedUpgrade } from '../../../test/suite/raw-socket.ts';
import type { RawSocket } from '../../../test/suite/raw-socket.ts';
import { withLimits } from '../../../test/suite/stand-ins.ts';
import { callsIn } from '../../../test/suite/records/recorded-usage.ts';

/** Its memory is measured. */
ownProcesses();

let upstream: GraphqlUpstream;
let gateway: GatewayUnderTest;
let url: string;
beforeAll(async () => {
  upstream = await startGraphqlUpstream();
  gateway = await startGateway({
    env: {
      UPSTREAM_WS_URL: upstream.url,
      WEBSOCKET_MAX_OPERATIONS: '5',
      WEBSOCKET_MAX_MESSAGES_PER_SEC: '200',
      WEBSOCKET_MAX_MESSAGE_BYTES: '50000',
      WEBSOCKET_BUFFER_MAX_BYTES: '20000',
      WEBSOCKET_STALL_TIMEOUT_MS: '500',
      WEBSOCKET_PING_INTERVAL_MS: '400',
      WEBSOCKET_IDLE_TIMEOUT_MS: '3000',
      WEBSOCKET_MAX_SOCKETS_PER_ACCOUNT: '3',
    },
  });
  url = gateway.graphqlUrl.replace('http', 'ws');
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

let lastAccount = 100;
/** Each test has an account of its own, so that tests don't share limits. */
const ready = (protocol = 'graphql-transport-ws', token = gateway.auth.issue({ accountId: ++lastAccount })) =>
  openReady(url, token, { protocol });
const hello = (id: string) => ({ id, type: 'subscribe', payload: { query: '{ hello }' } });
const ticks = (id: string, name = '') => ({
  id,
  type: 'subscribe',
  payload: { query: `subscription { ticks(name: "${name}") }` },
});

/** An operation with variables nested so deep that its message has so many levels. */
function nested(levels: number, length = 0): string {
  const lists = `${'['.repeat(levels - 3)}${' '.repeat(length)}${']'.repeat(levels - 3)}`;
  return `{"type":"subscribe","id":"n","payload":{"query":"{ hello }","variables":{"v":${lists}}}}`;
}

test('a message is read to 65 levels: a request stands in it, of which HTTP reads 64', async () => {
  for (const length of [0, 30_000]) {
    const raw = await ready();
    raw.send(nested(65, length));
    await raw.message({ type: 'next', id: 'n' });
    raw.socket.close();
  }
});

describe('a message that is none', () => {
  test.each<[string, string | Buffer | object]>([
    ['no JSON', 'not json'],
    ['no object', '[]'],
    ['no type', '{"id":"1"}'],
    ['a type that is no string', '{"type":1}'],
    ['an unknown type', { type: 'start', id: '1', payload: {} }],
    ['binary', Buffer.from('{"type":"ping"}')],
    ['an id that is no string', { type: 'subscribe', id: 1, payload: { query: '{ hello }' } }],
    ['an endless id', { type: 'subscribe', id: 'x'.repeat(300), payload: { query: '{ hello }' } }],
    ['an operation without a payload', { type: 'subscribe', id: '1' }],
    [
      'nesting that overflows the stack',
      `{"type":"ping","payload":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    ],
    ['more than 65 levels of nesting', nested(66)],
    ['more than 65 levels of nesting in a long one', nested(66, 30_000)],
  ])('%s: 4400', async (_name, message) => {
    const raw = await ready();
    raw.send(message);
    expect(await raw.closed).toMatchObject({
      code: 4400,
      reason: expect.stringMatching(/^invalid_request: /),
    });
  });

  test('one larger than allowed: 1009; a large connection_init: 4400', async () => {
    const large = await ready();
    large.send({ type: 'ping', payload: 'x'.repeat(60_000) });
    expect(await large.closed).toMatchObject({ code: 1009 });
    const init = await openRaw(url);
    init.send({ type: 'connection_init', payload: { padding: 'x'.repeat(20_000) } });
    expect(await init.closed).toMatchObject({ code: 4400 });
  });

  test('one in some fragments is read; in fragments of a byte, which take far more memory: 1008', async () => {
    const sendPieces = ({ socket }: RawSocket, text: string, length: number) => {
      for (let at = 0; at < text.length; at += length)
        socket.send(text.slice(at, at + length), { fin: at + length >= text.length });
    };
    const message = JSON.stringify({ type: 'ping', payload: 'x'.repeat(5_000) });
    const some = await ready();
    sendPieces(some, message, 100);
    await some.message({ type: 'pong' });
    some.socket.close();
    // Not even a token is needed.
    const many = await openRaw(url);
    sendPieces(many, message, 1);
    expect(await many.closed).toMatchObject({ code: 1008 });
  });
});

test('whatever messages hold, each socket goes on or is closed, and the gateway keeps its memory', async () => {
  const unit = fc.constantFrom(
    '0', '1.0', '-1e999', '""', '"\\uD800"', '"\u202e😀"', '{}', '[]', '{"a":1,"a":2}', '{"__proto__":{}}', '[[[[[]]]]]',
  ); // prettier-ignore
  const value = fc
    .tuple(unit, fc.constantFrom(1, 100, 2_000))
    .map(([text, count]) => `[${new Array(count).fill(text).join()}]`);
  const query = fc.constantFrom(
    '{ hello }',
    'subscription { ticks(count: 1) }',
    `{ ${'a { '.repeat(3_000)}`,
    `{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }`,
    `{ ${'a: hello '.repeat(2_000)} }`,
    `{ hello } #${'\u202e'.repeat(9_000)}`,
  );
  const member = fc.constantFrom('variables', 'extensions', 'operationName', 'Query', 'id', 'other');
  const operation = fc
    .tuple(query, member, value)
    .map(([text, name, each]) => `{"query":${JSON.stringify(text)},"${name}":${each}}`);
  const message = fc.oneof(
    { weight: 5, arbitrary: operation.map((payload) => `{"type":"subscribe","id":"a","payload":${payload}}`) },
    value.map((payload) => `{"type":"ping","payload":${payload}}`),
    fc.constantFrom('complete', 'next', 'pong').map((type) => `{"type":"${type}","id":"a"}`),
    fc.tuple(fc.constantFrom('[', '{"a":', '"', '{"type":"', '\\'), fc.nat({ max: 9_000 })).map(([text, count]) => text.repeat(count)),
  ); // prettier-ignore
  const memory = () => gateway.metric('process_resident_memory_bytes');
  const before = await memory();
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 4 }), async (messages) => {
      const raw = await ready();
      raw.send(...messages, { type: 'ping', payload: 'last' });
      let code: number | undefined;
      void raw.closed.then((closed) => {
        code = closed.code;
      });
      const isAnswered = () => raw.received.some(({ payload }) => payload === 'last');
      await waitFor(() => code !== undefined || isAnswered());
      if (!isAnswered()) expect([4400, 4409, 1009]).toContain(code);
      raw.socket.terminate();
    }),
    { numRuns: 60 },
  );
  await waitFor(async () => (await gateway.metric('tollgate_websocket_operations_open')) === 0);
  expect((await memory()) - before).toBeLessThan(150_000_000);
});

describe('the order of messages', () => {
  test('connection_init twice: 4429', async () => {
    const raw = await ready();
    raw.send({ type: 'connection_init' });
    expect(await raw.closed).toMatchObject({ code: 4429, reason: expect.stringMatching(/^too_many_init/) });
  });

  test('an operation before connection_init: 4401', async () => {
    for (const protocol of ['graphql-transport-ws', 'graphql-ws']) {
      const headers = { authorization: `Bearer ${gateway.auth.issue({ accountId: ++lastAccount })}` };
      const raw = await openRaw(url, { protocol, headers });
      raw.send({ ...hello('1'), type: protocol === 'graphql-ws' ? 'start' : 'subscribe' });
      expect(await raw.closed).toMatchObject({ code: 4401 });
    }
  });

  test('an id that is in use: 4409', async () => {
    const raw = await ready();
    raw.send(ticks('a'), ticks('a'));
    expect(await raw.closed).toMatchObject({
      code: 4409,
      reason: expect.stringMatching(/^duplicate_operation/),
    });
  });

  test('an id is free again once its operation has ended, and the former one is over at the upstream', async () => {
    const raw = await ready();
    raw.send(ticks('a', 'first use'));
    await raw.message({ type: 'next', id: 'a' });
    raw.send({ id: 'a', type: 'complete' }, ticks('a', 'second use'));
    await waitFor(() => upstream.ended.includes('first use') && upstream.begun.includes('second use'));
    raw.send({ id: 'a', type: 'complete' });
    await waitFor(() => upstream.ended.includes('second use'));
    raw.socket.close();
  });
});

test('of early operations those behind one that ends the socket leave nothing behind', async () => {
  gateway.account.entitle(++lastAccount, withLimits(lastAccount, { subscription_limit: 9 }));
  const token = gateway.auth.issue({ accountId: lastAccount });
  const raw = await openRaw(url, { protocol: 'graphql-ws' });
  const start = (id: string) => ({ ...ticks(id), type: 'start' });
  const init = { type: 'connection_init', payload: { token } };
  raw.socket.once('close', () => undefined);
  raw.send(init, start('a'), start('a'), start('b'));
  expect(await raw.closed).toMatchObject({ code: 4409 });
  await waitFor(async () => (await gateway.metric('tollgate_leases_held')) === 0);
  expect(await gateway.metric('tollgate_websocket_operations_open')).toBe(0);
  await waitFor(() => upstream.sockets().length === 0);
});

describe('floods', () => {
  test('more operations than a socket may have: an error for each beyond, the socket stays', async () => {
    const raw = await ready();
    raw.send(...Array.from({ length: 8 }, (_, index) => ticks(String(index))));
    const error = await raw.message({ type: 'error', id: '7' });
    expect(error.payload).toMatchObject([
      { extensions: { code: 'too_many_requests', request_id: expect.any(String) } },
    ]);
    expect(raw.received.filter(({ type }) => type === 'error')).toHaveLength(3);
    await raw.message({ type: 'next', id: '0' });
    raw.socket.close();
  });

  test.each<[string, (raw: RawSocket, index: number) => void]>([
    [
      'ids',
      (raw, index) => {
        raw.send(hello(String(index)));
      },
    ],
    [
      'pings',
      (raw) => {
        raw.send({ type: 'ping' });
      },
    ],
    [
      'control frames',
      (raw) => {
        raw.socket.ping();
      },
    ],
  ])('ten thousand %s: 4429', async (_kind, send) => {
    const raw = await ready();
    for (let index = 0; index < 10_000; index += 1) send(raw, index);
    // If the close meets a backlog of answers, the connection can break before the caller reads it.
    expect([4429, 1006]).toContain((await raw.closed).code);
    await waitFor(async () => (await gateway.metric('tollgate_websockets_open')) === 0);
  });

  test('more sockets of one account than allowed: 429 before the upgrade, 4429 after it', async () => {
    const token = gateway.auth.issue({ accountId: ++lastAccount });
    const open = await Promise.all([1, 2, 3].map(() => ready('graphql-transport-ws', token)));
    const refused = await refusedUpgrade(url, { headers: { authorization: `Bearer ${token}` } });
    expect(refused).toMatchObject({
      status: 429,
      body: { errors: [{ extensions: { code: 'too_many_requests' } }] },
    });
    const late = await openRaw(url);
    late.send({ type: 'connection_init', payload: { token } });
    expect(await late.closed).toMatchObject({ code: 4429 });
    for (const { socket } of open) socket.close();
    await waitFor(async () => (await gateway.metric('tollgate_websockets_open')) === 0);
  });
});

test('many sockets of one account at one moment: each is open, refused or closed, and says why', async () => {
  const token = gateway.auth.issue({ accountId: ++lastAccount });
  const refusals: string[] = [];
  const codes: number[] = [];
  const opened: RawSocket[] = [];
  await Promise.all(
    Array.from({ length: 40 }, async () => {
      try {
        const raw = await openRaw(url, { headers: { authorization: `Bearer ${token}` } });
        opened.push(raw);
        void raw.closed.then(({ code }) => codes.push(code));
      } catch (error) {
        refusals.push(String(error));
      }
    }),
  );
  await waitFor(() => codes.length === opened.length - 3);
  // How many are refused before the upgrade depends on which answers come first.
  const others = refusals.filter((refusal) => refusal !== 'Error: Unexpected server response: 429');
  expect(others).toEqual([]);
  expect(codes.filter((code) => code !== 4429)).toEqual([]);
  for (const { socket } of opened) socket.close();
  await waitFor(async () => (await gateway.metric('tollgate_websockets_open')) === 0);
});

describe('a caller that is slow, or gone', () => {
  test('that reads nothing is closed, the upstream isn’t read for it meanwhile, and its usage is kept', async () => {
    const before = callsIn(await gateway.usage(0));
    const raw = await ready();
    raw.socket.pause();
    raw.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { flood(bytes: 30000) }' } });
    await waitFor(async () => (await gateway.metric('tollgate_websockets_open')) === 0);
    const sent = await gateway.metric('tollgate_websocket_message_bytes_total', { direction: 'to_caller' });
    // The kernel's buffers, and not what the upstream would have sent in that time.
    expect(sent).toBeLessThan(30_000_000);
    expect(callsIn(await gateway.usage(before + 1))).toBeGreaterThan(before);
    raw.socket.terminate();
  });

  test('that answers no ping is cut, and its subscription ended', async () => {
    const raw = await openReady(url, gateway.auth.issue({ accountId: ++lastAccount }), { autoPong: false });
    raw.send(ticks('1', 'half-open'));
    await raw.message({ type: 'next' });
    expect(await raw.closed).toMatchObject({ code: 1006 });
    await waitFor(() => upstream.ended.includes('half-open'));
  });

  test('that opens no operation is closed: 4408', async () => {
    const raw = await ready();
    expect(await raw.closed).toMatchObject({ code: 4408, reason: expect.stringMatching(/^idle_timeout/) });
  });
});

describe('what a caller says goes on in the gateway’s own words', () => {
  test('of two types the upstream gets the one that was checked', async () => {
    const raw = await ready();
    raw.send('{"type":"subscribe","id":"x","type":"complete","payload":{"query":"{ hello }"}}', hello('y'));
    await raw.message({ type: 'complete', id: 'y' });
    expect(raw.received.some(({ id }) => id === 'x')).toBe(false);
    raw.socket.close();
  });

  test('ping is answered by the gateway; the older protocol gets ka, and connection_terminate ends it', async () => {
    const newer = await ready();
    newer.send({ type: 'ping', payload: { sent: 1 } });
    expect((await newer.message({ type: 'pong' })).payload).toEqual({ sent: 1 });
    newer.socket.close();
    const older = await ready('graphql-ws');
    await waitFor(() => older.received.filter(({ type }) => type === 'ka').length > 1);
    older.send({ type: 'connection_terminate' });
    expect(await older.closed).toMatchObject({ code: 1000 });
  });
});
