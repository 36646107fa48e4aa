import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createEventCache } from './event-cache.ts';
import { createGroupedStore } from './grouped-store.ts';

type Row = { key: number; group: number; version: number };
type Change = { key: number } | { group: number };

const KEYS = [0, 1, 2, 3, 4, 5];
const GROUPS = [0, 1];
const MAX_ENTRIES = 4;

/** A request reads its row at once and answers when the test lets it. */
function createSource() {
  const rows = KEYS.map((key): Row => ({ key, group: key % GROUPS.length, version: 0 }));
  const requests: { key: number; answer: () => void; fail: () => void }[] = [];
  return {
    rows,
    requests,
    changeGroup: (group: number) => {
      for (const row of rows) if (row.group === group) row.version += 1;
    },
    load: (key: number) =>
      new Promise<Row>((resolve, reject) => {
        const row = { ...rows[key] } as Row;
        requests.push({
          key,
          answer: () => {
            resolve(row);
          },
          fail: () => {
            reject(new Error('away'));
          },
        });
      }),
  };
}

function createCache(load: (key: number) => Promise<Row>, ttlMs: (row: Row) => number = () => 60_000) {
  const store = createGroupedStore<number, number, Row>(MAX_ENTRIES);
  const lookups: string[] = [];
  const cache = createEventCache<number, undefined, Row, Row, Change>({
    store,
    load,
    keep: (row, { key, startedMs }) => {
      if (ttlMs(row) > 0) store.set(key, row.group, row, startedMs + ttlMs(row));
      return row;
    },
    apply: (change) => {
      if ('key' in change) store.drop(change.key);
      else store.dropGroup(change.group);
    },
    isStale: (row, change) => ('key' in change ? row.key === change.key : row.group === change.group),
    onLookup: (outcome) => lookups.push(outcome),
  });
  return { ...cache, lookups };
}

const settled = () => new Promise(setImmediate);

const stale = expect.objectContaining({ code: 'service_unavailable' });

const key = fc.constantFrom(...KEYS);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('load' as const), key }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer' as const), nth: fc.nat(9) }) },
  fc.record({ kind: fc.constant('fail' as const), nth: fc.nat(9) }),
  fc.record({ kind: fc.constant('change' as const), key, group: fc.constantFrom(...GROUPS) }),
  fc.record({ kind: fc.constant('changeGroup' as const), group: fc.constantFrom(...GROUPS) }),
  // Everything has changed, and no event says so.
  fc.record({ kind: fc.constant('gap' as const) }),
  fc.record({ kind: fc.constant('disconnect' as const) }),
  fc.record({ kind: fc.constant('reconnect' as const) }),
);

test('whatever is loaded, changed and missed in which order: no value from before a change is used after it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const source = createSource();
      const cache = createCache(source.load);
      let connected = true;
      cache.trustUntil(Infinity);
      /** The version when each load is done; -1 for a failure. */
      const done: { key: number; version: number; connected: boolean; current: number }[] = [];
      const publish = (change: Change) => {
        if (connected) cache.invalidate(change);
      };

      for (const one of steps) {
        switch (one.kind) {
          case 'load':
            void cache.load(one.key, undefined).then(
              ({ version }) =>
                done.push({
                  key: one.key,
                  version,
                  connected,
                  current: source.rows[one.key]?.version ?? NaN,
                }),
              () => undefined,
            );
            break;
          case 'answer':
          case 'fail': {
            const [request] = source.requests.splice(one.nth % Math.max(1, source.requests.length), 1);
            request?.[one.kind]();
            break;
          }
          case 'change': {
            const { version } = source.rows[one.key] as Row;
            source.rows[one.key] = { key: one.key, group: one.group, version: version + 1 };
            publish({ key: one.key });
            break;
          }
          case 'changeGroup':
            source.changeGroup(one.group);
            publish({ group: one.group });
            break;
          case 'gap':
            for (const group of GROUPS) source.changeGroup(group);
            connected = true;
            cache.clear();
            cache.trustUntil(Infinity);
            break;
          case 'disconnect':
            connected = false;
            cache.trustUntil(0);
            break;
          case 'reconnect':
            connected = true;
            cache.clear();
            cache.trustUntil(Infinity);
        }
        await settled();

        const kept = KEYS.map((each) => cache.get(each)).filter((row) => row !== undefined);
        if (!connected) expect(kept).toEqual([]);
        expect(kept.length).toBeLessThanOrEqual(MAX_ENTRIES);
        for (const row of kept) expect(row.version).toBe(source.rows[row.key]?.version);
        // Loads miss changes too while disconnected, until the cache is cleared.
        for (const load of done.splice(0)) if (load.connected) expect(load.version).toBe(load.current);
        const asked = source.requests.map((request) => request.key);
        expect(asked).toHaveLength(new Set(asked).size);
      }
    }),
    { numRuns: 500 },
  );
});

test('a kept value is there at once, and its source is asked once', async () => {
  const { load, requests } = createSource();
  const cache = createCache(load);
  cache.trustUntil(Infinity);
  expect(cache.get(1)).toBeUndefined();
  const loads = [cache.load(1, undefined), cache.load(1, undefined), cache.load(2, undefined)];
  expect(requests.map((request) => request.key)).toEqual([1, 2]);
  for (const request of requests) request.answer();
  expect((await Promise.all(loads)).map((row) => row.key)).toEqual([1, 1, 2]);
  expect(cache.get(1)).toEqual({ key: 1, group: 1, version: 0 });
  expect(cache.lookups).toEqual(['miss', 'joined', 'miss']);
});

test('a failure reaches all callers and is not kept', async () => {
  const { load, requests } = createSource();
  const cache = createCache(load);
  cache.trustUntil(Infinity);
  const loads = [cache.load(1, undefined), cache.load(1, undefined)];
  requests[0]?.fail();
  for (const { status } of await Promise.allSettled(loads)) expect(status).toBe('rejected');
  expect(cache.get(1)).toBeUndefined();
  const again = cache.load(1, undefined);
  requests[1]?.answer();
  expect(await again).toMatchObject({ key: 1 });
});

test('an event of another key or group leaves the answer under way as it is', async () => {
  const { load, requests } = createSource();
  const cache = createCache(load);
  cache.trustUntil(Infinity);
  const loading = cache.load(1, undefined);
  cache.invalidate({ key: 2 });
  cache.invalidate({ group: 0 });
  requests[0]?.answer();
  await loading;
  expect(requests).toHaveLength(1);
  expect(cache.get(1)).toMatchObject({ key: 1 });
});

test('a value that changes during every request is service_unavailable', async () => {
  const { load, requests } = createSource();
  const cache = createCache((asked) => {
    const answer = load(asked);
    cache.invalidate({ key: asked });
    requests.at(-1)?.answer();
    return answer;
  });
  await expect(cache.load(1, undefined)).rejects.toEqual(stale);
  expect(requests).toHaveLength(3);
});

test('kept values are used only while trusted, and again when trust returns without a gap', async () => {
  const { load, requests } = createSource();
  const cache = createCache(load);
  const loading = cache.load(1, undefined);
  requests[0]?.answer();
  await loading;
  expect([cache.get(1), cache.isTrusted()]).toEqual([undefined, false]);
  const nowMs = performance.now();
  cache.trustUntil(nowMs + 60_000);
  expect([cache.get(1), cache.isTrusted()]).toEqual([expect.objectContaining({ key: 1 }), true]);
  expect(cache.get(1, nowMs + 60_000)).toBeUndefined();
});

test('a value is kept only for as long as its user says, counted from the request', async () => {
  const { load, requests } = createSource();
  const cache = createCache(load, (row) => (row.key === 1 ? 1_000 : 0));
  cache.trustUntil(Infinity);
  const startedMs = performance.now();
  const loads = [cache.load(1, undefined), cache.load(2, undefined)];
  const askedByMs = performance.now();
  for (const request of requests) request.answer();
  await Promise.all(loads);
  expect(cache.get(1, startedMs + 999)).toBeDefined();
  expect(cache.get(1, askedByMs + 1_000)).toBeUndefined();
  expect(cache.get(2, startedMs)).toBeUndefined();
});

test('in a rest nothing is used until it has ended; what is kept is used again', async () => {
  const { load, requests } = createSource();
  const cache = createCache(load);
  cache.trustUntil(Infinity);
  const loading = cache.load(1, undefined);
  requests[0]?.answer();
  await loading;
  expect(cache.rest.end()).toBeUndefined();
  const beforeMs = performance.now();
  expect(cache.get(1)).toMatchObject({ key: 1 });
  expect(cache.rest.lastUsedMs()).toBeGreaterThanOrEqual(beforeMs);
  let wakes = 0;
  cache.rest.begin(() => {
    wakes += 1;
    cache.trustUntil(Infinity);
    return Promise.resolve();
  });
  expect([cache.get(1), wakes]).toEqual([undefined, 0]);
  await cache.rest.end();
  expect([cache.get(1), wakes]).toEqual([expect.objectContaining({ key: 1 }), 1]);
  expect(cache.rest.end()).toBeUndefined();
});

test('whoever depends on trust without using the cache ends a rest', () => {
  const cache = createCache(createSource().load);
  let wakes = 0;
  cache.rest.begin(() => {
    wakes += 1;
    cache.trustUntil(0);
    return Promise.resolve();
  });
  expect([cache.isTrusted(), wakes]).toEqual([true, 1]);
  const beforeMs = performance.now();
  expect([cache.isTrusted(), wakes]).toEqual([false, 1]);
  expect(cache.rest.lastUsedMs()).toBeGreaterThanOrEqual(beforeMs);
});
