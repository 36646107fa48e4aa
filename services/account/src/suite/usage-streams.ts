import type { Knex } from 'knex';
import {
  USAGE_BATCH_FIELD,
  USAGE_SHARD_COUNT,
  usageShard,
  usageStreamKey,
} from '@tollgate/contracts/usage-stream';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { Redis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { onlyRow } from '../database/only-row.ts';

export type Counters = Pick<UsageEvent, 'points' | 'requests' | 'time_ms' | 'traffic_bytes'>;

/** A finished call of now, as a gateway reports it. */
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

/** Appends a batch as the settlement script does: to the shard of the first event's payer. */
export async function appendBatch(
  redis: Pick<Redis, 'xadd'>,
  events: readonly UsageEvent[],
  seq = 1,
): Promise<void> {
  const key = usageStreamKey(usageShard(events[0]?.payer_id ?? 0));
  const batch = JSON.stringify({ gateway_id: 'suite', seq, events });
  await redis.xadd(key, '*', USAGE_BATCH_FIELD, batch);
}

/** Waits until the streams are empty: an entry is removed only when it is counted or set aside. */
export async function allCounted({ store }: { store: Redis }, timeoutMs = 10_000): Promise<void> {
  const shards = Array.from({ length: USAGE_SHARD_COUNT }, (_, shard) => shard);
  await waitFor(
    async () => {
      const lengths = await Promise.all(shards.map((shard) => store.xlen(usageStreamKey(shard))));
      return lengths.every((length) => length === 0);
    },
    { timeoutMs, what: 'the usage streams to be read' },
  );
}

const SUMS = `coalesce(sum(points), 0)::bigint AS points, coalesce(sum(requests), 0)::bigint AS requests,
  coalesce(sum(time_ms), 0)::bigint AS time_ms, coalesce(sum(traffic_bytes), 0)::bigint AS traffic_bytes`;

/** What is counted in all periods together, once by period and once by hour. */
export async function countedUsage(database: Knex): Promise<{ totals: Counters; hourly: Counters }> {
  const sums = async (table: string) => {
    const { rows } = await database.raw<{ rows: Counters[] }>(`SELECT ${SUMS} FROM ${table}`);
    return onlyRow(rows);
  };
  return { totals: await sums('usage_totals'), hourly: await sums('usage_hourly') };
}

/** The sums that events amount to. */
export function sumOf(events: readonly UsageEvent[]): Counters {
  const sum = (field: keyof Counters) => events.reduce((total, event) => total + event[field], 0);
  return {
    points: sum('points'),
    requests: sum('requests'),
    time_ms: sum('time_ms'),
    traffic_bytes: sum('traffic_bytes'),
  };
}
