import { USAGE_SHARD_COUNT, usageBatchSchema, usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { UsageBatch, UsageEvent } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';

/** All usage batches, by shard and in the order of their streams. */
export async function recordedBatches(redisUrl: string): Promise<UsageBatch[]> {
  const client = openRedis(redisUrl, createLogger('test', 'silent'));
  try {
    await waitFor(() => client.status === 'ready', { what: 'a connection to Redis' });
    const streams = await Promise.all(
      Array.from({ length: USAGE_SHARD_COUNT }, (_, shard) => client.xrange(usageStreamKey(shard), '-', '+')),
    );
    return streams.flat().map(([, fields]) => usageBatchSchema.parse(JSON.parse(fields[1] ?? '')));
  } finally {
    client.disconnect();
  }
}

/** The number of calls; those that finish together may share an event. */
export function callsIn(events: readonly UsageEvent[]): number {
  return events.reduce((calls, { requests }) => calls + requests, 0);
}

/** Waits until usage events of at least `calls` calls, of one account or of all, are in Redis, and returns them all. */
export async function recordedUsage(
  redisUrl: string,
  calls: number,
  accountId?: number,
): Promise<UsageEvent[]> {
  let events: UsageEvent[] = [];
  await waitFor(
    async () => {
      const all = (await recordedBatches(redisUrl)).flatMap((batch) => batch.events);
      events = all.filter(({ account_id }) => accountId === undefined || account_id === accountId);
      return callsIn(events) >= calls;
    },
    { what: `usage of ${String(calls)} calls` },
  );
  return events;
}
