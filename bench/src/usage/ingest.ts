import { setTimeout as delay } from 'node:timers/promises';
import {
  USAGE_BATCH_FIELD,
  USAGE_SHARD_COUNT,
  usageShard,
  usageStreamKey,
} from '@tollgate/contracts/usage-stream';
import type { UsageBatch } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { withClient } from '@tollgate/stack/postgres';
import { until } from '../operator.ts';
import type { PartResult } from '../part.ts';
import { quantile, whole } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';

const PAYERS = 640;
const BATCH_EVENTS = 50;
const BACKLOG_EVENTS = 320_000;
const STEADY_SEC = 10;

type Payer = { payer: number; period: number };
type Say = (line: string) => void;

/** A backlog at full speed, with one replica and two; then the delay at half that rate. */
export async function measureIngest(servers: Servers, say: Say): Promise<PartResult> {
  const redis = openRedis(servers.redisUrl, createLogger('bench', 'silent'));
  try {
    return await withClient(servers.databaseUrl, async (client) => {
      const payers = await makePayers(async (sql) => (await client.query<Payer>(sql)).rows);
      const counted = async () => {
        const { rows } = await client.query<{ sum: string }>(
          'SELECT coalesce(sum(requests), 0) AS sum FROM usage_totals',
        );
        return Number(rows[0]?.sum);
      };
      const replicas: () => Promise<number> = async () => {
        const { rows } = await client.query<{ count: string }>(
          'SELECT count(*) FROM usage_readers WHERE alive_until > clock_timestamp()',
        );
        return Number(rows[0]?.count);
      };
      const add = createWriter(redis, payers);
      const one = await backlogRate(add, counted);
      say(`ingest: one replica ${whole(one)} events/s`);
      const oneLag = await lagAt(one / 2, add, counted);
      const further = await servers.startFurther('account', { place: servers.places?.rest });
      await until('two replicas', async () => (await replicas()) === 2);
      const two = await backlogRate(add, counted);
      say(`ingest: two replicas ${whole(two)} events/s`);
      const twoLag = await lagAt(two / 2, add, counted);
      await further.stop();
      return {
        goals: [],
        notes: [
          `${whole(BACKLOG_EVENTS)} events of ${String(PAYERS)} payers in batches of ${String(BATCH_EVENTS)} over all ${String(USAGE_SHARD_COUNT)} streams, until Postgres' totals had all of them`,
          `one account replica: ${whole(one)} events/s; at half of that for ${String(STEADY_SEC)} s it was behind by ${lagText(oneLag)}`,
          `two replicas: ${whole(two)} events/s, ${(two / one).toFixed(2)} times; at half of that behind by ${lagText(twoLag)}`,
          'the replicas, Postgres, Redis and the writer share a core on a machine of two: two replicas then have no more CPU than one',
        ],
        figures: { one, oneLag, two, twoLag },
      };
    });
  } finally {
    redis.disconnect();
  }
}

async function makePayers(query: (sql: string) => Promise<Payer[]>): Promise<Payer[]> {
  return await query(`
    WITH made AS (
      INSERT INTO accounts (email, name, password_hash)
      SELECT 'payer-' || gen_random_uuid() || '@bench.example', 'Payer', '-' FROM generate_series(1, ${String(PAYERS)})
      RETURNING account_id
    )
    INSERT INTO billing_periods (account_id, plan_id, plan_name, product_id, description, grace_sec, started_at, ended_at)
    SELECT account_id, plan_id, name, product_id, description, grace_sec, now() - interval '1 day', now() + interval '1 day'
    FROM made, (SELECT * FROM plans ORDER BY plan_id LIMIT 1) AS plan
    RETURNING account_id::integer AS payer, period_id::integer AS period`);
}

/** Resolves with how many events were written, at least `events`. */
type Add = (events: number) => Promise<number>;

function createWriter(redis: RedisConnection, payers: readonly Payer[]): Add {
  let seq = 0;
  let next = 0;
  return async (events) => {
    const writes: Promise<unknown>[] = [];
    for (let written = 0; written < events; written += BATCH_EVENTS) {
      const payer = payers[next % payers.length];
      if (payer === undefined) throw new Error('there are no payers');
      next += 1;
      seq += 1;
      const key = usageStreamKey(usageShard(payer.payer));
      writes.push(redis.xadd(key, '*', USAGE_BATCH_FIELD, JSON.stringify(batchOf(payer, seq))));
    }
    await Promise.all(writes);
    return writes.length * BATCH_EVENTS;
  };
}

function batchOf({ payer, period }: Payer, seq: number): UsageBatch {
  const event = {
    payer_id: payer,
    period_id: period,
    account_id: payer,
    application_id: 1,
    api_version: 'v2' as const,
    points: 1,
    requests: 1,
    time_ms: 0,
    traffic_bytes: 1_024,
    at_ms: Date.now(),
  };
  return { gateway_id: 'bench-ingest', seq, events: Array.from({ length: BATCH_EVENTS }, () => event) };
}

async function backlogRate(add: Add, counted: () => Promise<number>): Promise<number> {
  const before = await counted();
  const startedMs = performance.now();
  let written = 0;
  while (written < BACKLOG_EVENTS) written += await add(BATCH_EVENTS * PAYERS);
  await until('all events to be counted', async () => (await counted()) >= before + written, {
    limitMs: 200_000,
  });
  return written / ((performance.now() - startedMs) / 1_000);
}

/** Ascending delays in ms between writing and counting. */
async function lagAt(perSec: number, add: Add, counted: () => Promise<number>): Promise<number[]> {
  const before = await counted();
  const history: { written: number; atMs: number }[] = [];
  const lags: number[] = [];
  const startedMs = performance.now();
  let written = 0;
  while (performance.now() - startedMs < STEADY_SEC * 1_000) {
    const due = ((performance.now() - startedMs) / 1_000) * perSec - written;
    if (due >= BATCH_EVENTS) written += await add(due);
    history.push({ written, atMs: performance.now() });
    const seen = (await counted()) - before;
    const first = history.find((entry) => entry.written > seen);
    lags.push(first === undefined ? 0 : performance.now() - first.atMs);
    await delay(20);
  }
  await until('all events to be counted', async () => (await counted()) >= before + written, {
    limitMs: 60_000,
  });
  return lags.sort((a, b) => a - b);
}

function lagText(lags: readonly number[]): string {
  return `${whole(quantile(lags, 0.5))} ms (p50), ${whole(quantile(lags, 0.99))} ms (p99)`;
}
