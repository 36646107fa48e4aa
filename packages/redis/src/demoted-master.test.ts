import { afterEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { startMovableRedis, startRedisCluster } from '@tollgate/testbed/redis-topologies';
import type { MovableRedis } from '@tollgate/testbed/redis-topologies';
import { followChannels } from './channel/follow-channels.ts';
import { openRedis } from './redis.ts';
import type { RedisConnection } from './redis.ts';
import { defineScript } from './script/script.ts';

/** A master that becomes a replica and keeps its connections, as a managed Redis after a failover. */

const CHANNEL = 'suite:channel';
const silent = createLogger('suite', 'silent');
const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function startPair(
  settings: readonly string[] = [],
): Promise<MovableRedis & { redis: RedisConnection }> {
  const pair = await startMovableRedis(settings);
  const redis = openRedis(pair.url, silent);
  cleanUps.push(
    () => pair.stop(),
    () => {
      redis.disconnect();
    },
  );
  await waitFor(() => redis.status === 'ready');
  return { ...pair, redis };
}

async function on<T>({ url }: OwnRedis, run: (server: Redis) => Promise<T>): Promise<T> {
  const server = new Redis(url);
  try {
    return await run(server);
  } finally {
    server.disconnect();
  }
}

test('commands and scripts are answered by the new master after the first one that the old one refuses', async () => {
  const pair = await startPair();
  const { redis } = pair;
  const set = defineScript(redis, "return redis.call('SET', KEYS[1], ARGV[1])");
  await set(['suite:a'], ['1']);
  await pair.failOver();
  await expect(set(['suite:a'], ['2'])).rejects.toThrow('READONLY');
  await waitFor(async () => (await set(['suite:a'], ['2']).catch(() => 'refused')) === 'OK');
  expect(await on(pair.replica, (server) => server.get('suite:a'))).toBe('2');
});

test('a replica that has lost its master, and serves no old data, is left too', async () => {
  const pair = await startPair(['replica-serve-stale-data no']);
  const { master, replica, redis } = pair;
  await redis.set('suite:a', '1');
  await on(master, (server) => server.wait(1, 5_000));
  await on(replica, (server) => server.replicaof('NO', 'ONE'));
  await on(master, (server) => server.replicaof('127.0.0.1', 1));
  pair.move();
  await expect(redis.get('suite:a')).rejects.toThrow('MASTERDOWN');
  await waitFor(async () => (await redis.get('suite:a').catch(() => undefined)) === '1');
});

test('channels are followed at the new master, and caches dropped, though the old one still answers', async () => {
  const pair = await startPair();
  const told: string[] = [];
  let trustedUntilMs = 0;
  let drops = 0;
  const follower = followChannels({
    url: pair.url,
    alongside: pair.redis,
    channels: [
      {
        channel: CHANNEL,
        onMessage: (message) => told.push(message),
        cache: {
          onDropAll: () => (drops += 1),
          trustUntil: (timeMs) => (trustedUntilMs = timeMs),
        },
      },
    ],
    logger: silent,
  });
  cleanUps.push(() => {
    follower.close();
  });
  await waitFor(() => performance.now() < trustedUntilMs);
  const before = drops;
  await on(pair.replica, (server) => server.replicaof('NO', 'ONE'));
  // Its link to the new master never comes up, so it passes nothing on.
  await on(pair.master, (server) => server.replicaof('127.0.0.1', 1));
  pair.move();
  await expect(pair.redis.set('suite:a', '1')).rejects.toThrow('READONLY');
  await waitFor(() => drops > before);
  await on(pair.replica, (server) => server.publish(CHANNEL, 'revoked'));
  await waitFor(() => told.includes('revoked'));
});

test('on a Redis Cluster, writes go to a promoted replica', async () => {
  const cluster = await startRedisCluster({ replicas: true });
  const redis = openRedis(cluster.url, silent);
  cleanUps.push(
    () => cluster.stop(),
    () => {
      redis.disconnect();
    },
  );
  await waitFor(() => redis.status === 'ready');
  const keys = Array.from({ length: 30 }, (_, index) => `suite:${String(index)}`);
  const set = async () => {
    const answers = await Promise.all(keys.map((key) => redis.set(key, '1').catch(() => 'refused')));
    return answers.every((answer) => answer === 'OK');
  };
  await waitFor(set);
  const [demoted] = cluster.nodes;
  const replica = cluster.nodes[3];
  if (demoted === undefined || replica === undefined) throw new Error('the cluster has too few nodes');
  await on(replica, (server) => server.call('CLUSTER', 'FAILOVER', 'TAKEOVER'));
  await on(demoted, (server) =>
    waitFor(async () => (await server.info('replication')).includes('role:slave')),
  );
  await waitFor(set);
});
