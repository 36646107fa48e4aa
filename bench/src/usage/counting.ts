import { setTimeout as delay } from 'node:timers/promises';
import { USAGE_BATCH_FIELD, usageHour, usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { UsageBatch } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { countedCalls, makePayers } from '../cost/callers.ts';
import type { Payer } from '../cost/callers.ts';
import { createMeter } from '../cost/processes.ts';
import { until } from '../operator.ts';
import type { PartResult } from '../part.ts';
import type { Servers } from '../servers.ts';

/** Half of them warm up. In a pass, each of the others calls once, so that no two calls share a row. */
const PAYERS = 64_000;
const CALLS_PER_SEC = 4_000;
const PASS_SEC = 8;
const SETTLE_MS = 3_000;

const NOTHING = { batches: 0, requests: 0, points: 0, at_ms: usageHour(Date.now()) };

/**
 * What it costs account and Postgres to count calls of payers that call rarely: each call is a batch of its own, as
 * where 40 gateways share the load, and no two calls share a row. Then the same with 200 payers.
 */
export async function measureCounting(servers: Servers, say: (line: string) => void): Promise<PartResult> {
  const redis = openRedis(servers.redisUrl, createLogger('bench', 'silent'));
  try {
    const payers = inNoOrder(await makePayers(servers, PAYERS, 'rare'));
    const write = createWriter(redis);
    const pids = {
      gateway: [],
      auth: [],
      account: [servers.pidOf('account')],
      Redis: [servers.pidOf('redis')],
      Postgres: [servers.pidOf('postgres')],
    };
    const meter = createMeter(pids, say);
    const pass = async (chosen: readonly Payer[]) => {
      const before = await countedCalls(servers);
      const written = await write(chosen);
      await until('all calls to be counted', async () => (await countedCalls(servers)) >= before + written);
      return written;
    };
    const rare = payers.slice(0, CALLS_PER_SEC * PASS_SEC);
    // V8 compiles meanwhile.
    await pass(payers.slice(-rare.length));
    await delay(SETTLE_MS);
    const first = await meter.measure('the first call of a payer, application and hour', () => pass(rare));
    const further = await meter.measure('a further call of one of as many payers', () => pass(rare));
    const again = await meter.measure('the same again', () => pass(rare));
    const few = payers.slice(0, 200);
    const busy = Array.from({ length: rare.length / few.length }, () => few).flat();
    await pass(busy);
    const ofFew = await meter.measure('a call of one of 200 payers', () => pass(busy));
    return {
      goals: [],
      notes: [
        `CPU-µs of gateway / auth / account / Redis / Postgres for counting a call, from /proc/PID/stat, with what each uses idle; ${String(CALLS_PER_SEC)} calls/s, each a batch of its own`,
        ...meter.lines,
      ],
      figures: { first, further, again, ofFew },
    };
  } finally {
    redis.disconnect();
  }
}

/** Of the tables. */
function inNoOrder(payers: readonly Payer[]): Payer[] {
  const placeOf = ({ accountId }: Payer) => (accountId * 7_919) % PAYERS;
  return payers.toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** Writes a call of each payer at an even rate. Resolves with how many. */
function createWriter(redis: RedisConnection): (payers: readonly Payer[]) => Promise<number> {
  const writtenBefore = new Map<string, UsageBatch['before']>();
  let seq = 0;
  return async (payers) => {
    const startedMs = performance.now();
    let written = 0;
    while (written < payers.length) {
      const due = Math.floor(((performance.now() - startedMs) / 1_000) * CALLS_PER_SEC);
      const part = payers.slice(written, due);
      await Promise.all(
        part.map((payer) => {
          seq += 1;
          const key = usageStreamKey(usageShard(payer.accountId));
          const before = writtenBefore.get(key) ?? NOTHING;
          writtenBefore.set(key, {
            batches: before.batches + 1,
            requests: before.requests + 1,
            points: before.points + 1,
            at_ms: Date.now(),
          });
          const batch: UsageBatch = { gateway_id: 'bench-counting', seq, before, events: [eventOf(payer)] };
          return redis.xadd(key, '*', USAGE_BATCH_FIELD, JSON.stringify(batch));
        }),
      );
      written += part.length;
      await delay(5);
    }
    return written;
  };
}

function eventOf({ accountId, periodId }: Payer): UsageBatch['events'][number] {
  return {
    payer_id: accountId,
    period_id: periodId,
    account_id: accountId,
    application_id: accountId,
    api_version: 'v2' as const,
    points: 1,
    requests: 1,
    time_ms: 0,
    traffic_bytes: 1_024,
    at_ms: Date.now(),
  };
}
