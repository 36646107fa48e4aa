import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { defineScript } from '@tollgate/redis/script';
import type { Script } from '@tollgate/redis/script';
import { waitFor } from '@tollgate/stack/wait-for';
import { writeLiveCounters } from '@tollgate/testbed/live-counters';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { turnedTo, underTurnedClock } from '@tollgate/testbed/turned-clock';
import { payerCredits } from './credits.ts';
import { LUA } from './points-left.ts';

let server: OwnRedis;
let redis: RedisConnection;
let readAt: Script;
let dataSet: string;
let runs = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  dataSet = /master_replid:(\w+)/.exec(await redis.info('replication'))?.[1] ?? '';
  readAt = defineScript(redis, underTurnedClock(LUA, 6, {}));
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const NO_LIMIT = -1;
const NO_BUDGETS = '';
const WANTED = 1;
const NOT_STRICT = 0;
const BEGIN_MS = 1_790_000_000_000;

/** A moment is so many ms after the beginning; null is before it, or never. */
const moment = fc.option(fc.integer({ min: 1, max: 5 }));
const grant = fc.record({ points: fc.nat(30), from: moment, until: moment });
/** The points that a period has used in each ms. */
const period = fc.record({
  covered: fc.nat(20),
  used: fc.array(fc.nat(12), { minLength: 7, maxLength: 7 }),
});

type Grant = { points: number; from: number | null; until: number | null };
type Period = { covered: number; used: number[] };

const usedBefore = ({ used }: Period, ms: number) =>
  used.slice(0, ms).reduce((sum, points) => sum + points, 0);

/** Point by point: each is taken from the first grant that is usable then and has one left. */
function model(periods: readonly Period[], grants: readonly Grant[], nowMs: number): number {
  const left = grants.map(({ points }) => points);
  const isUsable = ({ from, until }: Grant, ms: number) => (from ?? 0) <= ms && ms < (until ?? Infinity);
  const excessBefore = (ms: number) =>
    periods.reduce((sum, one) => sum + Math.max(usedBefore(one, ms) - one.covered, 0), 0);
  for (let ms = 0; ms <= nowMs; ms += 1) {
    for (let points = excessBefore(ms + 1) - excessBefore(ms); points > 0; points -= 1) {
      const first = grants.findIndex((one, index) => isUsable(one, ms) && (left[index] ?? 0) > 0);
      if (first >= 0) left[first] = (left[first] ?? 0) - 1;
    }
  }
  const [current] = periods;
  const included = current === undefined ? 0 : Math.max(current.covered - usedBefore(current, nowMs + 1), 0);
  return grants.reduce((sum, one, index) => sum + (isUsable(one, nowMs) ? (left[index] ?? 0) : 0), included);
}

test('points left are what each point taken by itself leaves, over periods, grants and instants', async () => {
  const periods = fc.array(period, { minLength: 1, maxLength: 3 });
  const grants = fc.array(grant, { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(periods, grants, fc.nat(6), async (used, given, nowMs) => {
      const [current = { covered: 0 }, ...open] = used;
      const credits = payerCredits({
        included: current.covered,
        settled: 0,
        open_periods: open.map(({ covered }, index) => ({ period_id: index, included: covered, settled: 0 })),
        grants: given.map(({ points, from, until }) => ({
          points,
          from_ms: from === null ? null : BEGIN_MS + from,
          until_ms: until === null ? null : BEGIN_MS + until,
        })),
      });
      runs += 1;
      const keys = used.map((_, index) => `{s0}:live:${String(runs)}-${String(index)}`);
      for (const [index, one] of used.entries()) {
        const points = usedBefore(one, nowMs + 1);
        const key = keys[index] ?? '';
        await writeLiveCounters(redis, key, {
          usage_version: 0,
          points,
          requests: 0,
          time_ms: 0,
          traffic_bytes: 0,
        });
        await redis.hset(key, 'data_set', dataSet);
        for (const atMs of credits.instantsMs.filter((at) => at <= BEGIN_MS + nowMs)) {
          await redis.hset(key, `cut:${String(atMs)}`, usedBefore(one, atMs - BEGIN_MS));
        }
      }
      const left = await readAt(keys, [
        NO_LIMIT,
        credits.argument,
        NO_BUDGETS,
        NOT_STRICT,
        WANTED,
        ...turnedTo((BEGIN_MS + nowMs) * 1_000),
      ]);
      const points = model(used, given, nowMs);
      expect(left).toEqual([points, 2 ** 53, 0, BEGIN_MS + nowMs, points, 0]);
    }),
    { numRuns: 400 },
  );
});
