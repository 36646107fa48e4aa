import { usageStreamKey } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';

/** Of a stream that others may have used before, and account trims what it has counted. */
export async function lastPosition(redisUrl: string, lane: number): Promise<string> {
  const redis = openRedis(redisUrl, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  const facts = (await redis.xinfo('STREAM', usageStreamKey(lane)).catch(() => [])) as unknown[];
  redis.disconnect();
  const at = facts.indexOf('last-generated-id');
  return at === -1 ? '0-0' : String(facts[at + 1]);
}
