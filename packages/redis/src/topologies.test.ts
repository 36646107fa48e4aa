import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { RunningRedis } from '@tollgate/testbed/redis';
import { startRedisCluster, startRedisSentinel } from '@tollgate/testbed/redis-topologies';
import { batchWrites } from './batch/batch-writes.ts';
import { openRedis } from './redis.ts';
import type { RedisConnection } from './redis.ts';
import { defineScript } from './script/script.ts';
import type { Script } from './script/script.ts';

const ANSWER_AND_COUNT = `
redis.call('INCR', KEYS[1])
return {KEYS[1], ARGV[1]}
`;

describe.each([
  { topology: 'one server', start: () => startRedis() },
  { topology: 'Sentinel', start: () => startRedisSentinel() },
  { topology: 'a Redis Cluster', start: () => startRedisCluster() },
])('$topology', ({ start }) => {
  const logged: string[] = [];
  let server: RunningRedis;
  let redis: RedisConnection;
  let countAnd: Script;

  beforeAll(async () => {
    server = await start();
    const logger = createLogger('suite', 'info', { write: (line: string) => logged.push(line) });
    redis = openRedis(server.url, logger);
    batchWrites(redis);
    countAnd = defineScript(redis, ANSWER_AND_COUNT);
    await waitFor(() => redis.status === 'ready');
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  test('scripts over many slots in one turn, with arguments that are numbers, each meet their own key', async () => {
    const keys = Array.from({ length: 200 }, (_, index) => `{${String(index)}}:count`);
    const answers = await Promise.all(keys.map((key, index) => countAnd([key], [index])));
    expect(answers).toEqual(keys.map((key, index) => [key, String(index)]));
    const counts = await Promise.all(keys.map((key) => redis.get(key)));
    expect(counts).toEqual(keys.map(() => '1'));
  });

  test('a process that closes its connection ends, whatever is under way', async () => {
    const program = `
      const { openRedis } = await import(process.env.ROOM + 'redis.ts');
      const silent = { info() {}, warn() {} };
      const redis = openRedis(process.env.URL, silent);
      // Of a cluster's topology it looks every half second.
      redis.once('ready', () => redis.isCluster ? redis.once('refresh', close) : close());
      function close() { redis.disconnect(); }`;
    const env = { ROOM: new URL('./', import.meta.url).href, URL: server.url };
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      env,
      timeout: 15_000,
    });
  });

  test('away: commands are refused at once; back again by itself; one log line for each', async () => {
    const before = logged.length;
    await server.kill();
    // At once: not by the time limit of a command.
    await waitFor(() =>
      redis.get('{1}:count').then(
        () => false,
        (error: unknown) => error instanceof Error && error.message !== 'Command timed out',
      ),
    );
    await server.restart();
    await waitFor(async () => (await redis.get('{1}:count')) === '1');
    expect(await countAnd(['{1}:count'], [0])).toEqual(['{1}:count', '0']);
    await waitFor(() => logged.slice(before).some((line) => line.includes('Redis is available again')));
    const lines = logged.slice(before).map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(lines).toEqual(['Redis is unavailable; retrying', 'Redis is available again']);
  });
});
