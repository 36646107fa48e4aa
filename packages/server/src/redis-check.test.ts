import { afterEach, expect, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { mastersOf, openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import type { RunningRedis } from '@tollgate/testbed/redis';
import { startMovableRedis, startRedisCluster } from '@tollgate/testbed/redis-topologies';
import { checkRedis } from './redis-check.ts';

const keyOf = (tag: string) => `suite:${tag}:never`;
const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function connectTo(server: RunningRedis): Promise<RedisConnection> {
  const redis = openRedis(server.url, createLogger('suite', 'silent'));
  cleanUps.push(
    () => server.stop(),
    () => {
      redis.disconnect();
    },
  );
  await waitFor(() => redis.status === 'ready');
  return redis;
}

const passes = (redis: RedisConnection) =>
  checkRedis(redis, keyOf).then(
    () => true,
    () => false,
  );

test('a master that has become a replica fails the check, which names why, and finds the new one', async () => {
  const pair = await startMovableRedis();
  const redis = await connectTo(pair);
  await checkRedis(redis, keyOf);
  await pair.failOver();
  await expect(checkRedis(redis, keyOf)).rejects.toThrow('Redis takes no writes: READONLY');
  await waitFor(() => passes(redis));
});

test('a master with too few replicas fails the check', async () => {
  const redis = await connectTo(await startMovableRedis());
  await redis.config('SET', 'min-replicas-to-write', 2);
  await expect(checkRedis(redis, keyOf)).rejects.toThrow('Redis takes no writes: NOREPLICAS');
});

test('on a Redis Cluster, every master is asked', async () => {
  const redis = await connectTo(await startRedisCluster());
  await waitFor(() => passes(redis));
  for (const master of mastersOf(redis)) {
    await master.config('SET', 'min-replicas-to-write', 1);
    await expect(checkRedis(redis, keyOf)).rejects.toThrow('Redis takes no writes: NOREPLICAS');
    await master.config('SET', 'min-replicas-to-write', 0);
  }
  await checkRedis(redis, keyOf);
});
