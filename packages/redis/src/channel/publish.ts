import { mastersOf } from '../redis.ts';
import type { RedisConnection } from '../redis.ts';

/** On each master, because subscribers follow each, and the cluster bus delivers messages at any later time. */
export async function publishOnMasters(
  redis: RedisConnection,
  channel: string,
  message: string,
): Promise<void> {
  const masters = mastersOf(redis);
  if (masters.length === 0) throw new Error('no master of the Redis Cluster is known');
  await Promise.all(masters.map((master) => master.publish(channel, message)));
}
