import { mastersOf } from '../redis.ts';
import type { RedisConnection } from '../redis.ts';

/**
 * Publishes on each master of a Redis Cluster: a subscriber trusts its cache by what the masters that it is
 * connected to have told it, and the cluster's own bus promises no time. Resolves when all have taken it.
 */
export async function publishOnMasters(
  redis: RedisConnection,
  channel: string,
  message: string,
): Promise<void> {
  const masters = mastersOf(redis);
  if (masters.length === 0) throw new Error('no master of the Redis Cluster is known');
  await Promise.all(masters.map((master) => master.publish(channel, message)));
}
