import type { RedisConnection } from '@tollgate/redis';
import { Refusal } from './refusal.ts';

/** As many as there are usage streams: they meet each master of a Redis Cluster. */
const TAGS = Array.from({ length: 64 }, (_, index) => `{s${String(index)}}`);

/**
 * Readiness: whether Redis takes writes, on all masters of a Redis Cluster. A deletion of keys that never exist changes
 * nothing, and is refused like any write: by a replica, after an error of the disk, or with too few replicas. PING is
 * answered by all of these.
 * @throws {Refusal} if Redis refuses; else what kept it from answering
 */
export async function checkRedis(
  redis: Pick<RedisConnection, 'del' | 'isCluster'>,
  keyOf: (tag: string) => string,
): Promise<void> {
  const tags = redis.isCluster ? TAGS : TAGS.slice(0, 1);
  try {
    await Promise.all(tags.map((tag) => redis.del(keyOf(tag))));
  } catch (error) {
    const [code] = error instanceof Error ? error.message.split(' ') : [];
    if (code === undefined || !REFUSALS.has(code)) throw error;
    throw new Refusal(`Redis takes no writes: ${code}`);
  }
}

/** The codes with which Redis refuses a write, or any command. */
const REFUSALS: ReadonlySet<string> = new Set([
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'NOREPLICAS',
  'NOPERM',
  'OOM',
  'READONLY',
]);
