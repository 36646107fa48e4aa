import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebSocket } from 'ws';
import type { Limits } from '@tollgate/contracts/entitlement';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import {
  publishEntitlementEvent,
  withBudgets,
  withCallRules,
  withLimits,
} from '../../../test/suite/stand-ins.ts';
import { openReady } from '../../../test/suite/raw-socket.ts';
import type { RawSocket } from '../../../test/suite/raw-socket.ts';
import { say, startScriptedUpstream } from '../../../test/suite/upstreams/scripted-upstream.ts';
import type { ScriptedUpstream } from '../../../test/suite/upstreams/scripted-upstream.ts';

const DEFAULT_POINTS = 3;
const ANSWER_TIMEOUT_MS = 1_500;

let upstream: ScriptedUpstream;
let gateway: GatewayUnderTest;
let url: string;
let account = 500;

/** An event costs 3 at most. */
const SDL = `
  directive @cost(weight: String!) on FIELD_DEFINITION
  type Query { a: Int b: Int }
  type Subscription { a: Int @cost(weight: "3") b: Int @cost(weight: "3") }
`;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'priced-'));
  const schema = join(folder, 'schema.graphql');
  await writeFile(schema, SDL);
  upstream = await startScriptedUpstream();
  gateway = await startGateway({
    env: {
      GRAPHQL_SCHEMA: schema,
      UPSTREAM_WS_URL: upstream.url,
      UPSTREAM_POINTS_EXTENSION: 'cost.points',
      UPSTREAM_HEADERS_TIMEOUT_MS: String(ANSWER_TIMEOUT_MS),
      DEFAULT_POINTS: String(DEFAULT_POINTS),
      SETTLEMENT_TIMEOUT_MS: '500',
    },
  });
  url = gateway.graphqlUrl.replace('http', 'ws');
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  await rm(folder, { recursive: true });
});

type Held = { id: string; socket: WebSocket; query: unknown };
/** Operations that the upstream received, in order; it answers when the test says so. */
let held: Held[] = [];

beforeEach(() => {
  account += 1;
  held = [];
  upstream.received.length = 0;
  upstream.onMessage(({ type, id = '', payload }, socket) => {
    if (type === 'connection_init') say(socket, { type: 'connection_ack' });
    if (type === 'subscribe' || type === 'start') {
      held.push({ id, socket, query: (payload as { query?: unknown }).query });
    }
  });
});

const ready = (protocol = 'graphql-transport-ws') =>
  openReady(url, gateway.auth.issue({ accountId: account }), { protocol });
const limitTo = (limits: Partial<Limits>) => {
  gateway.account.entitle(account, withLimits(account, limits));
};
const start = (id: string, query = '{ a }') => ({ id, type: 'subscribe', payload: { query } });
const sentToUpstream = (count: number) => waitFor(() => (held.length >= count ? held : undefined));
const priced = <Points>(points: Points) => ({ data: null, extensions: { cost: { points } } });

/** The upstream answers an operation with results, and ends it. */
function answer({ id, socket }: Held, payloads: object[], older = false): void {
  for (const payload of payloads) say(socket, { type: older ? 'data' : 'next', id, payload });
  say(socket, { type: 'complete', id });
}

async function usage(): Promise<{ points: number; requests: number; timeMs: number }> {
  const events = (await gateway.usage(0)).filter(({ account_id }) => account_id === account);
  const sum = (field: 'points' | 'requests' | 'time_ms') =>
    events.reduce((total, event) => total + event[field], 0);
  return { points: sum('points'), requests: sum('requests'), timeMs: sum('time_ms') };
}

/** Sends one operation that gets these responses, and returns its price. */
async function costOf(query: string, payloads: object[], older = false) {
  const raw = await ready(older ? 'graphql-ws' : 'graphql-transport-ws');
  raw.send({ ...start('1', query), type: older ? 'start' : 'subscribe' });
  const [one] = await sentToUpstream(1);
  if (one !== undefined) answer(one, payloads, older);
  await raw.message({ type: 'complete', id: '1' });
  expect(raw.received.filter(({ id, type }) => id === '1' && type !== 'complete')).toHaveLength(
    payloads.length,
  );
  // What the caller has received is recorded already, so there is nothing to wait for.
  const { points, requests, timeMs } = await usage();
  raw.socket.close();
  await raw.closed;
  return { points, requests, timeMs };
}

describe('a query or mutation costs', () => {
  test.each([
    ['what the upstream states', '{ a }', [priced(261)], 261],
    ['what it states, in the older protocol', '{ a }', [priced(7)], 7, true],
    ['nothing where the upstream says 0', '{ a }', [priced(0)], 0],
    ['the default where it states none', 'mutation { a }', [{ data: null }], DEFAULT_POINTS],
    ['the default where it states nonsense', '{ a }', [priced('261')], DEFAULT_POINTS],
    ['the default for each result', '{ a }', [{ data: null }, { data: null }], 2 * DEFAULT_POINTS],
    ['all that its parts state', '{ a }', [{ ...priced(5), hasNext: true }, { hasNext: false }], 5],
    ['the default where it is persisted', '', [{ data: null }], DEFAULT_POINTS],
  ])('%s', async (_, query, payloads, points, older = false) => {
    expect(await costOf(query, payloads, older)).toMatchObject({
      points,
      ...(query === '' ? {} : { requests: 1, timeMs: 0 }),
    });
  });

  test.each([
    ['the default where it gets an error in place of a result', [{ message: 'no' }], DEFAULT_POINTS],
    ['what that error states', [{ message: 'no', extensions: { cost: { points: 1 } } }], 1],
  ])('%s', async (_, payload, points) => {
    const raw = await ready();
    raw.send(start('1'));
    const [one] = await sentToUpstream(1);
    if (one !== undefined) say(one.socket, { type: 'error', id: one.id, payload });
    expect((await raw.message({ type: 'error', id: '1' })).payload).toEqual(payload);
    expect(await usage()).toEqual({ points, requests: 1, timeMs: 0 });
    raw.socket.close();
  });

  test('nothing where the upstream breaks off: its caller gets an error, and the socket stays', async () => {
    const raw = await ready();
    raw.send(start('1', 'mutation { a }'));
    const [one] = await sentToUpstream(1);
    one?.socket.terminate();
    expect(codeOf(await raw.message({ type: 'error', id: '1' }))).toBe('upstream_unreachable');
    raw.send(start('2'));
    const [, two] = await sentToUpstream(2);
    if (two !== undefined) answer(two, [priced(2)]);
    await raw.message({ type: 'complete', id: '2' });
    expect(await usage()).toEqual({ points: 2, requests: 1, timeMs: 0 });
    raw.socket.close();
  });
});

const codeOf = ({ payload }: { payload?: unknown }) =>
  (payload as { extensions: { code: string } }[])[0]?.extensions.code;

test('each message of a subscription costs what it states, and nothing where it states nothing', async () => {
  const raw = await ready();
  raw.send(start('1', 'subscription { a }'));
  const [one] = await sentToUpstream(1);
  if (one !== undefined) answer(one, [priced(2), { data: null }, priced(5)]);
  await raw.message({ type: 'complete' });
  await waitFor(async () => (await usage()).requests === 1);
  expect((await usage()).points).toBe(7);
  raw.socket.close();
});

test('points that messages state use up the period’s: open subscriptions end, queries are answered', async () => {
  limitTo({ points_limit: 10 });
  const raw = await ready();
  raw.send(start('sub', 'subscription { a }'), start('query'));
  const both = await sentToUpstream(2);
  const [sub, query] = ['sub', 'query'].map((id) => both.find((one) => one.id === id));
  for (let sent = 0; sent < 10; sent += 1) {
    if (sub !== undefined) say(sub.socket, { type: 'next', id: sub.id, payload: priced(1) });
  }
  expect(codeOf(await raw.message({ type: 'error', id: 'sub' }))).toBe('points_limit_exceeded');
  if (query !== undefined) answer(query, [priced(1)]);
  await raw.message({ type: 'complete', id: 'query' });
  raw.send(start('refused'));
  expect(codeOf(await raw.message({ type: 'error', id: 'refused' }))).toBe('points_limit_exceeded');
  raw.socket.close();
  await waitFor(async () => (await usage()).points === 11);
});

test("a budget of the socket's application: its operations are refused, and its subscriptions end", async () => {
  const [applicationId, otherId] = [account * 10, account * 10 + 1];
  const budget = { application_id: applicationId, points_per_period: 10, points_per_day: null };
  gateway.account.entitle(account, withBudgets(account, { applications: [budget] }));
  const socketOf = (id: number) =>
    openReady(url, gateway.auth.issue({ accountId: account, applicationId: id }));
  const [raw, other] = [await socketOf(applicationId), await socketOf(otherId)];
  raw.send(start('sub', 'subscription { a }'), start('query'));
  const both = await sentToUpstream(2);
  const [sub, query] = ['sub', 'query'].map((id) => both.find((one) => one.id === id));
  if (sub !== undefined) say(sub.socket, { type: 'next', id: sub.id, payload: priced(10) });
  expect(codeOf(await raw.message({ type: 'error', id: 'sub' }))).toBe('budget_exceeded');
  if (query !== undefined) answer(query, [priced(1)]);
  await raw.message({ type: 'complete', id: 'query' });
  raw.send(start('refused'));
  expect(codeOf(await raw.message({ type: 'error', id: 'refused' }))).toBe('budget_exceeded');
  other.send(start('other'));
  const [, , sent] = await sentToUpstream(3);
  if (sent !== undefined) answer(sent, [priced(1)]);
  await other.message({ type: 'complete', id: 'other' });
  for (const { socket } of [raw, other]) socket.close();
});

test("a socket is held to its application's budget once it has one, and another socket isn't", async () => {
  const [applicationId, otherId] = [account * 10, account * 10 + 1];
  const socketOf = (id: number) =>
    openReady(url, gateway.auth.issue({ accountId: account, applicationId: id }));
  const [other, raw] = [await socketOf(otherId), await socketOf(applicationId)];
  const budget = { application_id: applicationId, points_per_period: 0, points_per_day: null };
  gateway.account.entitle(account, withBudgets(account, { applications: [budget] }));
  await publishEntitlementEvent(gateway.redis.url, JSON.stringify({ account_id: account }));
  let calls = 0;
  await waitFor(async () => {
    const [id, sent] = [String((calls += 1)), held.length];
    raw.send(start(id));
    const refused = await waitFor(() =>
      held.length > sent ? 'sent' : raw.received.find((one) => one.id === id && one.type === 'error'),
    );
    if (refused !== 'sent') return codeOf(refused) === 'budget_exceeded';
    const last = held.at(-1);
    if (last !== undefined) answer(last, [priced(1)]);
    return false;
  });
  const sent = held.length;
  other.send(start('other'));
  await sentToUpstream(sent + 1);
  for (const { socket } of [raw, other]) socket.close();
});

test.each([
  ['subscriptions', 'subscription { a }'],
  ['persisted operations', ''],
])('with %s alone the socket ends, too: 4429', async (_, query) => {
  limitTo({ points_limit: 5 });
  const raw = await ready();
  raw.send(start('sub', query));
  const [sub] = await sentToUpstream(1);
  if (sub !== undefined) say(sub.socket, { type: 'next', id: sub.id, payload: priced(5) });
  expect(await raw.closed).toMatchObject({ code: 4429, reason: expect.stringMatching(/^points_limit/) });
});

describe('where points are strict, an event is passed on once it is charged', () => {
  const beStrict = (points_limit: number) => {
    gateway.account.entitle(account, withCallRules(account, { strict_points: true }, { points_limit }));
  };
  const event = ({ id, socket }: Held, points: number) => {
    say(socket, { type: 'next', id, payload: priced(points) });
  };
  /** What a caller has seen. */
  const pointsIn = ({ received }: RawSocket) =>
    received
      .filter(({ type }) => type === 'next')
      .map(({ payload }) => (payload as ReturnType<typeof priced<number>>).extensions.cost.points)
      .reduce((sum, points) => sum + points, 0);

  test('by its price, also above its estimate; what isn’t covered costs nothing, and the socket stays', async () => {
    beStrict(20);
    const raw = await ready();
    raw.send(start('1', 'subscription { a }'));
    const [one] = (await sentToUpstream(1)) as [Held];
    for (const points of [2, 0, 9, 10, 1]) event(one, points);
    expect(codeOf(await raw.message({ type: 'error', id: '1' }))).toBe('points_limit_exceeded');
    expect([pointsIn(raw), (await usage()).points]).toEqual([11, 11]);
    raw.send(start('2', 'subscription { b }'));
    const [, two] = (await sentToUpstream(2)) as [Held, Held];
    event(two, 3);
    await raw.message({ type: 'next', id: '2' });
    expect((await usage()).points).toBe(14);
    raw.socket.close();
  });

  test('and what a subscription has reserved itself is no reason to wait', async () => {
    beStrict(10);
    const raw = await ready();
    raw.send(start('1', 'subscription { a }'));
    const [one] = (await sentToUpstream(1)) as [Held];
    // Beyond the 3 that are reserved for it, 9, and 7 are left.
    event(one, 12);
    expect((await raw.message({ type: 'error', id: '1' })).payload).toMatchObject([
      { extensions: { code: 'points_limit_exceeded', remaining: 10, estimate: 12 } },
    ]);
    raw.socket.close();
  });

  test('in order with the others, and its end', async () => {
    beStrict(100);
    const raw = await ready();
    raw.send(start('1', 'subscription { a }'));
    const [one] = (await sentToUpstream(1)) as [Held];
    const events = [1, 0, 7, 0, 0, 3];
    answer(one, events.map(priced));
    await raw.message({ type: 'complete', id: '1' });
    expect(raw.received.filter(({ id }) => id === '1').map(({ type, payload }) => payload ?? type)).toEqual([
      ...events.map(priced),
      'complete',
    ]);
    raw.socket.close();
  });

  test('and a subscription ends when its next event isn’t covered', async () => {
    beStrict(7);
    const raw = await ready();
    raw.send(start('1', 'subscription { a }'), start('2', 'subscription { b }'));
    const both = await sentToUpstream(2);
    for (const one of both) if (one.query === 'subscription { a }') event(one, 3);
    expect(codeOf(await raw.message({ type: 'error', id: '1' }))).toBe('points_reserved');
    for (const one of both) if (one.query === 'subscription { b }') event(one, 3);
    await raw.message({ type: 'next', id: '2' });
    expect(codeOf(await raw.message({ type: 'error', id: '2' }))).toBe('points_limit_exceeded');
    expect((await usage()).points).toBe(6);
    raw.socket.close();
  });

  test('one that isn’t covered doesn’t begin', async () => {
    beStrict(2);
    const raw = await ready();
    raw.send(start('1', 'subscription { a }'));
    expect((await raw.message({ type: 'error', id: '1' })).payload).toMatchObject([
      { extensions: { code: 'points_limit_exceeded', remaining: 2, estimate: 3 } },
    ]);
    raw.socket.close();
  });

  test('over two gateways, one of them killed: callers see as much as is recorded at most, and no more than is left', async () => {
    const limit = 400;
    beStrict(limit);
    const doomed = await gateway.startTwin();
    const doors = [url, `${doomed.process.publicUrl.replace('http', 'ws')}/graphql`];
    const token = gateway.auth.issue({ accountId: account });
    const sockets = await Promise.all([...doors, ...doors].map((door) => openReady(door, token)));
    for (const raw of sockets) raw.send(start('1', 'subscription { a }'), start('2', 'subscription { b }'));
    await sentToUpstream(8);
    const seen = () => sockets.reduce((sum, raw) => sum + pointsIn(raw), 0);
    const flood = () => {
      for (const one of held) for (const points of [1, 4, 2, 3]) event(one, points);
    };
    flood();
    await waitFor(() => seen() > 50);
    flood();
    await doomed.process.kill();
    const rest = await openReady(url, token);
    sockets.push(rest);
    rest.send(start('1', 'subscription { a }'));
    const last = (await sentToUpstream(9)).at(-1);
    for (let sent = 0; sent < limit / 3 && last !== undefined; sent += 1) event(last, 3);
    await rest.message({ type: 'error', id: '1' });
    for (const { socket } of sockets) socket.close();
    const { points } = await usage();
    expect(points).toBeLessThanOrEqual(limit);
    // Otherwise the limit was never near.
    expect(points).toBeGreaterThan(limit - 50);
    expect(seen()).toBeLessThanOrEqual(points);
  });
});

test('usage of a subscription is that of its operation', async () => {
  const raw = await ready();
  raw.send(start('1', 'subscription A { a }'), start('2', 'subscription B { a }'));
  for (const one of await sentToUpstream(2))
    answer(one, [priced(one.query === 'subscription A { a }' ? 5 : 2)]);
  for (const id of ['1', '2']) await raw.message({ type: 'complete', id });
  await waitFor(async () => (await usage()).points === 7);
  const events = (await gateway.usage(0)).filter(({ account_id }) => account_id === account);
  const sums = new Map<string | null, { points: number; requests: number }>();
  for (const { name, points, requests } of events.flatMap(({ operations = [] }) => operations)) {
    const sum = sums.get(name) ?? { points: 0, requests: 0 };
    sums.set(name, { points: sum.points + points, requests: sum.requests + requests });
  }
  expect(Object.fromEntries(sums)).toEqual({ A: { points: 5, requests: 1 }, B: { points: 2, requests: 1 } });
  raw.socket.close();
});

describe('a query is held to what a call is held to', () => {
  test.each<[string, Partial<Limits>]>([
    ['points_limit_exceeded', { points_limit: 0 }],
    ['rate_limit_exceeded', { rate_limit: 0 }],
    ['session_limit_exceeded', { session_limit: 0 }],
  ])('%s', async (code, limits) => {
    limitTo(limits);
    const raw = await ready();
    raw.send(start('1'));
    expect(codeOf(await raw.message({ type: 'error', id: '1' }))).toBe(code);
    raw.socket.close();
  });

  test('it takes a slot until its result, and a subscription’s slot not at all', async () => {
    limitTo({ session_limit: 1, subscription_limit: 0 });
    const raw = await ready();
    raw.send(start('1'));
    const [one] = await sentToUpstream(1);
    raw.send(start('2'));
    expect(codeOf(await raw.message({ type: 'error', id: '2' }))).toBe('session_limit_exceeded');
    if (one !== undefined) say(one.socket, { type: 'next', id: one.id, payload: priced(1) });
    await raw.message({ type: 'next', id: '1' });
    raw.send(start('3'));
    await sentToUpstream(2);
    raw.socket.close();
  });

  test.each<[string, Partial<Limits>]>([
    ['session_limit_exceeded', { session_limit: 0 }],
    ['subscription_limit_exceeded', { subscription_limit: 0 }],
  ])('one of unknown type is held to both: %s', async (code, limits) => {
    limitTo(limits);
    const raw = await ready();
    raw.send({ id: '1', type: 'subscribe', payload: { query: 'query A { a } subscription B { a }' } });
    expect(codeOf(await raw.message({ type: 'error', id: '1' }))).toBe(code);
    raw.socket.close();
  });
});

describe('hanging up gains nothing', () => {
  const hangUps: [string, (raw: RawSocket) => void][] = [
    [
      'complete',
      (raw) => {
        raw.send({ id: '1', type: 'complete' });
      },
    ],
    [
      'a close',
      (raw) => {
        raw.socket.close();
      },
    ],
    [
      'a cut',
      (raw) => {
        raw.socket.terminate();
      },
    ],
  ];

  test.each(hangUps)('%s: the slot stays taken until the answer, which is charged', async (_, hangUp) => {
    limitTo({ session_limit: 1 });
    const raw = await ready();
    raw.send(start('1'));
    const [one] = await sentToUpstream(1);
    hangUp(raw);
    const other = await ready();
    other.send(start('1'));
    expect(codeOf(await other.message({ type: 'error', id: '1' }))).toBe('session_limit_exceeded');
    expect(upstream.received.some(({ type }) => type === 'complete')).toBe(false);
    expect(one?.socket.readyState).toBe(one?.socket.OPEN);
    if (one !== undefined) say(one.socket, { type: 'next', id: one.id, payload: priced(50) });
    await waitFor(async () => (await usage()).points === 50);
    other.send(start('2'));
    await sentToUpstream(2);
    expect(raw.received.some(({ type }) => type === 'next')).toBe(false);
    for (const { socket } of [raw, other]) socket.close();
  });

  test.each(hangUps)(
    '%s: what is never answered costs nothing, and gives its slot back in time',
    async (_, hangUp) => {
      limitTo({ session_limit: 1 });
      const raw = await ready();
      raw.send(start('1'));
      await sentToUpstream(1);
      hangUp(raw);
      const other = await ready();
      let attempts = 0;
      await waitFor(async () => {
        attempts += 1;
        const id = String(attempts);
        other.send(start(id));
        await waitFor(() => held.length === 2 || other.received.some((message) => message.id === id));
        return held.length === 2;
      });
      expect(await usage()).toEqual({ points: 0, requests: 0, timeMs: 0 });
      for (const { socket } of [raw, other]) socket.close();
    },
  );

  test('the id may be used again at once, and the old answer isn’t taken for the new one', async () => {
    const raw = await ready();
    raw.send(start('1'));
    await sentToUpstream(1);
    raw.send({ id: '1', type: 'complete' }, start('1'));
    const [old, later] = await sentToUpstream(2);
    if (old !== undefined) answer(old, [priced(50)]);
    await waitFor(async () => (await usage()).points === 50);
    if (later !== undefined) answer(later, [priced(1)]);
    expect((await raw.message({ type: 'next', id: '1' })).payload).toEqual(priced(1));
    expect((await usage()).points).toBe(51);
    raw.socket.close();
  });
});

test('one that is not answered in time gets an error, costs nothing, and is ended at the upstream', async () => {
  const raw = await ready();
  raw.send(start('1'));
  expect(codeOf(await raw.message({ type: 'error', id: '1' }))).toBe('upstream_timeout');
  await waitFor(() => upstream.received.some(({ type, id }) => type === 'complete' && id === '1'));
  expect(await usage()).toEqual({ points: 0, requests: 0, timeMs: 0 });
  raw.socket.close();
});

describe('the upstream gets what the gateway has read', () => {
  test('with the digits of its numbers, however long it is, and of two hashes the one that was read', async () => {
    for (const length of [0, 30_000]) {
      const received: string[] = [];
      upstream.onMessage((message, socket) => {
        if (message.type === 'connection_init') {
          say(socket, { type: 'connection_ack' });
          socket.on('message', (data: Buffer) => received.push(data.toString()));
        }
      });
      const raw = await ready();
      const x = `"${'x'.repeat(length)}"`;
      raw.send(
        `{"type":"subscribe","id":"1","payload":{"query":"{ b }","query":"{ a }","Query":"{ c }",` +
          `"variables":{"n":12345678901234567890,"f":[1.0],"x":${x}},"extensions":{"a":1,"a":2}}}`,
      );
      await waitFor(() => received.length > 0);
      expect(received[0]).toMatch(
        `"payload":{"query":"{ a }","variables":{"n":12345678901234567890,"f":[1.0],"x":${x}},"extensions":{"a":2}}}`,
      );
      raw.socket.close();
    }
  });

  test('and nothing that a reader without regard to case would take instead', async () => {
    const raw = await ready();
    const message =
      '{"id":"1","type":"subscribe","Type":"complete","payload":{"query":"subscription { b }",' +
      '"query":"subscription { a }","Query":"{ a }","exten\u017fions":{},"other":1.0}}';
    raw.send(message);
    await sentToUpstream(1);
    const sent = upstream.received.find(({ type }) => type === 'subscribe');
    expect(sent).toEqual({ id: '1', type: 'subscribe', payload: { query: 'subscription { a }', other: 1 } });
    raw.socket.close();
    await raw.closed;
  });

  test('and no variable twice in a long message, whose variables keep their text', async () => {
    const raw = await ready();
    raw.send(
      `{"type":"subscribe","id":"1","payload":{"query":"{ a }","variables":{"x":"${'x'.repeat(20_000)}","n":{"a":1,"a":2}}}}`,
    );
    expect(codeOf(await raw.message({ type: 'error', id: '1' }))).toBe('invalid_request');
    expect(held).toEqual([]);
    raw.socket.close();
  });

  test('a document above 64 kB is refused before it is parsed', async () => {
    const raw = await ready();
    raw.send(start('1', `{ a } #${' '.repeat(65_536)}`));
    expect((await raw.message({ type: 'error', id: '1' })).payload).toMatchObject([
      { extensions: { code: 'document_too_large' } },
    ]);
    expect(held).toEqual([]);
    raw.socket.close();
    await raw.closed;
  });
});
