import { setTimeout as delay } from 'node:timers/promises';
import { USAGE_BATCH_FIELD, usageHour, usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { UsageBatch } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { withClient } from '@tollgate/stack/postgres';
import { countedCalls } from '../cost/callers.ts';
import { createMeter } from '../cost/processes.ts';
import { until } from '../operator.ts';
import type { PartResult } from '../part.ts';
import type { Servers } from '../servers.ts';
import { WIDE_LIMITS } from './wide-limits.ts';

/** Half of them warm up. In a pass, each of the others calls once, so that no two calls share a row. */
const PAYERS = 64_000;
const GATEWAYS = 1;
const CALLS_PER_SEC = 4_000;
const PASS_SEC = 8;
const SETTLE_MS = 3_000;

type Payer = { payer: number; period: number };

/**
 * What it costs account and Postgres to count calls of payers that call rarely: each call is a batch of its own, as
 * where 40 gateways share the load, and no two calls share a row. Then the same with 200 payers.
 */
export async function measureCounting(servers: Servers, say: (line: string) => void): Promise<PartResult> {
  const redis = openRedis(servers.redisUrl, createLogger('bench', 'silent'));
  try {
    const payers = await makePayers(servers);
    const write = createWriter(redis);
    const pids = {
      ...{ gateway: [], auth: [] },
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
    const many = Array.from({ length: rare.length }, (_, at) => few[at % few.length] ?? few[0]);
    const busy = many.filter((payer) => payer !== undefined);
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

async function makePayers({ databaseUrl }: Servers): Promise<Payer[]> {
  return await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<Payer>(
      `WITH made AS (
         INSERT INTO accounts (email, name, password_hash)
         SELECT 'rare-' || n || '@bench.example', 'Payer', '-' FROM generate_series(1, $1::integer) AS n
         RETURNING account_id
       )
       INSERT INTO billing_periods
         (account_id, plan_id, plan_name, product_id, description, grace_sec, started_at, ended_at)
       SELECT account_id, plan_id, name, product_id, description || $2::jsonb, grace_sec,
              now() - interval '1 day', now() + interval '1 day'
       FROM made, (SELECT * FROM plans ORDER BY plan_id LIMIT 1) AS plan
       RETURNING account_id::integer AS payer, period_id::integer AS period`,
      [PAYERS, JSON.stringify(WIDE_LIMITS)],
    );
    // New periods ask for a look at their team's slots, which would be measured with the calls.
    await client.query('DELETE FROM usage_alert_checks');
    await client.query('ANALYZE');
    // In no order of the tables.
    return rows
      .map((row) => ({ row, at: (row.payer * 7_919) % PAYERS }))
      .sort((one, other) => one.at - other.at)
      .map(({ row }) => row);
  });
}

/** Writes a call of each payer at an even rate. Resolves with how many. */
function createWriter(redis: RedisConnection): (payers: readonly Payer[]) => Promise<number> {
  const before = new Map<string, { batches: number; requests: number; points: number; at_ms: number }>();
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
          const gateway_id = `bench-${String(seq % GATEWAYS)}`;
          const key = usageStreamKey(usageShard(payer.payer));
          const sums = before.get(`${gateway_id} ${key}`) ?? {
            ...{ batches: 0, requests: 0, points: 0, at_ms: usageHour(Date.now()) },
          };
          const batch: UsageBatch = { gateway_id, seq, before: { ...sums }, events: [eventOf(payer)] };
          before.set(`${gateway_id} ${key}`, {
            batches: sums.batches + 1,
            requests: sums.requests + 1,
            points: sums.points + 1,
            at_ms: Date.now(),
          });
          return redis.xadd(key, '*', USAGE_BATCH_FIELD, JSON.stringify(batch));
        }),
      );
      written += part.length;
      await delay(5);
    }
    return written;
  };
}

function eventOf({ payer, period }: Payer): UsageBatch['events'][number] {
  return {
    ...{ payer_id: payer, period_id: period, account_id: payer, application_id: payer },
    ...{ api_version: 'v2' as const, points: 1, requests: 1, time_ms: 0, traffic_bytes: 1_024 },
    at_ms: Date.now(),
  };
}
