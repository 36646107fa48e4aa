import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import type { Servers } from './servers.ts';

/** With a connection to the stack's Redis, which ends with `work`. */
export async function withRedis<T>(
  { redisUrl }: Pick<Servers, 'redisUrl'>,
  work: (redis: RedisConnection) => Promise<T>,
): Promise<T> {
  const redis = openRedis(redisUrl, createLogger('bench', 'silent'));
  try {
    await waitFor(() => redis.status === 'ready');
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
