import { test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { mastersOf, openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { usesRedisCluster } from '@tollgate/testbed/config';
import { startRedis } from '@tollgate/testbed/redis';
import type { RunningRedis } from '@tollgate/testbed/redis';
import { startRedisCluster } from '@tollgate/testbed/redis-topologies';

/** Empty and unused, by settings. */
const idle = new Map<string, RunningRedis>();

/** At the end of a suite: what it kept for its next test. */
export async function stopIdleClusters(): Promise<void> {
  const clusters = [...idle.values()];
  idle.clear();
  await Promise.all(clusters.map((cluster) => cluster.stop()));
}

/** `settings` are further lines of redis.conf. */
export async function startTopology(settings: readonly string[]): Promise<RunningRedis> {
  if (!usesRedisCluster()) return startRedis(settings);
  const key = settings.join('\n');
  const cluster = idle.get(key) ?? (await startRedisCluster({ settings }));
  idle.delete(key);
  return { ...cluster, stop: () => giveBack(key, cluster) };
}

/** Keeps an emptied cluster for the file's next test, because starting one takes seconds. */
async function giveBack(key: string, cluster: RunningRedis): Promise<void> {
  const redis = openRedis(cluster.url, createLogger('suite', 'silent'));
  try {
    await waitFor(() => redis.status === 'ready' && mastersOf(redis).length === 3, { timeoutMs: 2_000 });
    await Promise.all(mastersOf(redis).map((master) => master.flushall()));
    idle.set(key, cluster);
  } catch {
    await cluster.stop();
  } finally {
    redis.disconnect();
  }
}

/** For what a Redis Cluster can't do. */
export function testOfOneServer(): Pick<typeof test, 'skip'>['skip'] | typeof test {
  return usesRedisCluster() ? test.skip : test;
}
