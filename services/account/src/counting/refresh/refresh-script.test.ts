import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { liveBudgetField, usageLiveKey, usageShard, usageVersionKey } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis, redisTimeMs } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { readLiveCounters, writeLiveCounters } from '@tollgate/testbed/live-counters';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import type { PendingRefresh } from './refresh-outbox.ts';
import { createRefreshLive } from './refresh-script.ts';
import type { RefreshLive } from './refresh-script.ts';

let server: OwnRedis;
let redis: RedisConnection;
let refreshLive: RefreshLive;
let nextPeriod = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  refreshLive = createRefreshLive(redis);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const PAYER = 77;

function newPeriod() {
  const period_id = (nextPeriod += 1);
  const live = usageLiveKey(usageShard(PAYER), period_id);
  return {
    live,
    told: usageVersionKey(usageShard(PAYER), period_id),
    refresh: (previous_version: number, usage_version: number, points: number | null): PendingRefresh => ({
      period_id,
      payer_id: PAYER,
      previous_version,
      usage_version,
      points,
      requests: points,
      time_ms: points,
      traffic_bytes: points,
    }),
    /** As the gateways' script builds them. */
    build: (usage_version: number, points: number) =>
      writeLiveCounters(redis, live, {
        usage_version,
        points,
        requests: points,
        time_ms: points,
        traffic_bytes: points,
      }),
    read: async () => {
      const counters = await readLiveCounters(redis, live);
      if (counters === null) return null;
      const { usage_version, points, requests, time_ms, traffic_bytes } = counters;
      return [usage_version, points, requests, time_ms, traffic_bytes];
    },
  };
}

test('counters of the version before grow, once however often they are told', async () => {
  const { build, read, refresh, told } = newPeriod();
  await build(5, 100);
  const change = refresh(5, 9, 7);
  expect(await refreshLive(change)).toBe('added');
  expect(await refreshLive(change)).toBe('unchanged');
  expect(await read()).toEqual([9, 107, 107, 107, 107]);
  expect(await redis.get(told)).toBe('9');
  expect(await redis.ttl(told)).toBeGreaterThan(500);
});

test('what was spent of budgets goes with a change, and stays without one', async () => {
  const { build, refresh, live } = newPeriod();
  await build(5, 100);
  const fields = ['budgets', liveBudgetField('application', 7), liveBudgetField('member', PAYER)];
  const known = async () => (await redis.hmget(live, ...fields)).filter((value) => value !== null).length;
  await redis.hset(live, Object.fromEntries(fields.map((field) => [field, '1'])));
  expect(await refreshLive(refresh(2, 5, 7))).toBe('unchanged');
  expect(await known()).toBe(3);
  expect(await refreshLive(refresh(5, 9, 7))).toBe('added');
  expect(await known()).toBe(0);
});

test('counters of any other version go', async () => {
  for (const version of [3, 6]) {
    const { build, read, refresh } = newPeriod();
    await build(version, 100);
    expect(await refreshLive(refresh(5, 9, 7))).toBe('removed');
    expect(await read()).toBeNull();
  }
});

test("counters go if an instant of the payer's credits has passed without a cut; a future one doesn't matter", async () => {
  const nowMs = Math.floor(await redisTimeMs(redis));
  for (const [instant, outcome] of [
    [nowMs + 60_000, 'added'],
    [nowMs, 'removed'],
  ] as const) {
    const { build, live, refresh } = newPeriod();
    await build(5, 100);
    await redis.hset(live, 'instants', `${String(instant)} ${String(nowMs + 90_000)}`);
    expect(await refreshLive(refresh(5, 9, 7))).toBe(outcome);
  }
});

test('a change that nobody can add has them built anew', async () => {
  const { build, read, refresh } = newPeriod();
  await build(5, 100);
  expect(await refreshLive(refresh(5, 9, null))).toBe('removed');
  expect(await read()).toBeNull();
});

test('without counters nothing is made but the version that an older snapshot is known by, which never falls', async () => {
  const { live, told, refresh } = newPeriod();
  expect(await refreshLive(refresh(5, 9, 7))).toBe('unchanged');
  expect(await refreshLive(refresh(3, 5, 7))).toBe('unchanged');
  expect([await redis.exists(live), await redis.get(told)]).toEqual([0, '9']);
});

test('told in any order, again and again, counters are right for the version that they name, or gone', async () => {
  const arbitrary = fc
    .array(fc.record({ step: fc.integer({ min: 1, max: 1_000 }), points: fc.nat(50) }), {
      minLength: 1,
      maxLength: 5,
    })
    .chain((changes) =>
      fc.record({
        changes: fc.constant(changes),
        builtFrom: fc.nat(changes.length),
        order: fc.array(fc.nat(changes.length - 1), { maxLength: 10 }),
      }),
    );
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ changes, builtFrom, order }) => {
      const { build, read, refresh } = newPeriod();
      const totals = [[0, 0]];
      for (const { step, points } of changes) {
        const [version = 0, sum = 0] = totals.at(-1) ?? [];
        totals.push([version + step, sum + points]);
      }
      const versionAt = (index: number) => totals[index]?.[0] ?? 0;
      await build(versionAt(builtFrom), totals[builtFrom]?.[1] ?? 0);
      // At last each is told once more, as the outbox does until it is done.
      for (const index of [...order, ...changes.keys()]) {
        const { points = 0 } = changes[index] ?? {};
        await refreshLive(refresh(versionAt(index), versionAt(index + 1), points));
        const live = await read();
        if (live !== null) expect(totals).toContainEqual(live.slice(0, 2));
      }
      const live = await read();
      if (live !== null) expect(live.slice(0, 2)).toEqual(totals.at(-1));
    }),
    { numRuns: 150 },
  );
});
