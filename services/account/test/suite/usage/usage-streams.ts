import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import {
  USAGE_BATCH_FIELD,
  USAGE_SHARD_COUNT,
  usageLane,
  usageStreamKey,
} from '@tollgate/contracts/usage-stream';
import type { UsageBatch, UsageEvent, UsedOperation } from '@tollgate/contracts/usage-stream';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { singleRow } from '../../../src/platform/database/single-row.ts';

export type Counters = Pick<UsageEvent, 'points' | 'requests' | 'time_ms' | 'traffic_bytes'>;

export function usageEvent(changes: Partial<UsageEvent> = {}): UsageEvent {
  return {
    payer_id: 1,
    period_id: 1,
    account_id: 1,
    application_id: 1,
    api_version: 'v2',
    points: 3,
    requests: 1,
    time_ms: 0,
    traffic_bytes: 250,
    at_ms: Date.now(),
    ...changes,
  };
}

/** Of one request that took 100 ms. */
export function usedOperation(
  index: number,
  changes: Partial<UsedOperation> = {},
): UsedOperation & { hash: string } {
  const hash = String(index).padStart(64, '0');
  return { name: null, points: 3, requests: 1, errors: 0, durations: [[13, 1]], ...changes, hash };
}

/** The suite's own gateway process; its numbers grow over all streams. */
const gatewayId = randomUUID();
let lastSeq = 0;

export function usageBatch(events: readonly UsageEvent[]): UsageBatch {
  lastSeq += 1;
  return { gateway_id: gatewayId, seq: lastSeq, events: [...events] };
}

/** Appends a batch to its payer's lane, like the settlement script; returns the entry's id. */
export async function sendBatch(
  redis: Pick<RedisConnection, 'xadd'>,
  batch: UsageBatch,
  lanes = USAGE_SHARD_COUNT,
): Promise<string | null> {
  const key = usageStreamKey(usageLane(batch.events[0]?.payer_id ?? 0, lanes));
  return redis.xadd(key, '*', USAGE_BATCH_FIELD, JSON.stringify(batch));
}

export async function appendBatch(
  redis: Pick<RedisConnection, 'xadd'>,
  events: readonly UsageEvent[],
): Promise<string | null> {
  return sendBatch(redis, usageBatch(events));
}

/** Waits until the streams are empty: entries are removed only when they are counted or set aside. */
export async function allCounted({ store }: { store: RedisConnection }): Promise<void> {
  const lanes = Array.from({ length: USAGE_SHARD_COUNT }, (_, lane) => lane);
  await waitFor(
    async () => {
      const lengths = await Promise.all(lanes.map((lane) => store.xlen(usageStreamKey(lane))));
      return lengths.every((length) => length === 0);
    },
    { what: 'the usage streams to be read' },
  );
}

const CALLS = 'coalesce(sum(points), 0)::bigint AS points, coalesce(sum(requests), 0)::bigint AS requests';
const SUMS = `${CALLS},
  coalesce(sum(time_ms), 0)::bigint AS time_ms, coalesce(sum(traffic_bytes), 0)::bigint AS traffic_bytes`;

/** Totals over all periods, by period, by hour and by operation. */
export async function countedUsage(database: Knex): Promise<{
  totals: Counters;
  hourly: Counters;
  operations: Pick<Counters, 'points' | 'requests'>;
}> {
  const sums = async (table: string, columns = SUMS) => {
    const { rows } = await database.raw<{ rows: Counters[] }>(`SELECT ${columns} FROM ${table}`);
    return singleRow(rows);
  };
  return {
    totals: await sums('usage_totals'),
    hourly: await sums('usage_hourly'),
    operations: await sums('usage_operations', CALLS),
  };
}

export function sumOf(events: readonly UsageEvent[]): Counters {
  const sum = (field: keyof Counters) => events.reduce((total, event) => total + event[field], 0);
  return {
    points: sum('points'),
    requests: sum('requests'),
    time_ms: sum('time_ms'),
    traffic_bytes: sum('traffic_bytes'),
  };
}
