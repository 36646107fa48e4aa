import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { RunningRedis } from '@tollgate/testbed/redis';
import { openRedis } from '../redis.ts';
import type { RedisConnection } from '../redis.ts';
import { defineScript } from './script.ts';

/** More than a busy machine delays a reply. */
const TIME_LIMIT_MS = 1_000;

let server: RunningRedis;
let redis: RedisConnection;

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'), { commandTimeoutMs: TIME_LIMIT_MS });
  await waitFor(() => redis.status === 'ready');
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

async function callsOf(command: string): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
}

test('a script goes by its digest, and with its text only where this Redis has not met it; it runs once', async () => {
  const count = defineScript(redis, `return redis.call('INCRBY', KEYS[1], ARGV[1])`);
  expect(await count(['once'], [2])).toBe(2);
  expect(await count(['once'], [3])).toBe(5);
  expect(await callsOf('eval')).toBe(1);
  await redis.script('FLUSH');
  expect(await Promise.all([1, 1, 1].map((one) => count(['once'], [one])))).toEqual([6, 7, 8]);
  expect(await count(['once'], [1])).toBe(9);
  expect(await callsOf('eval')).toBe(4);
});

test('text of any kind comes back as it was sent', async () => {
  const echo = defineScript(redis, 'return { KEYS[1], ARGV[1], ARGV[2] }');
  expect(await echo(['ключ'], ['ü \r\n "', 7])).toEqual(['ключ', 'ü \r\n "', '7']);
});

test("a script's own failure is passed on, and not tried again", async () => {
  const fail = defineScript(redis, `redis.call('INCR', KEYS[1]) return redis.error_reply('NO such thing')`);
  await expect(fail(['failures'], [])).rejects.toThrow('NO such thing');
  expect(await redis.get('failures')).toBe('1');
});

test('no answer within the time limit is a rejection, and later scripts are answered again', async () => {
  const echo = defineScript(redis, 'return ARGV[1]');
  expect(await echo([], [1])).toBe('1');
  await redis.client('PAUSE', 2 * TIME_LIMIT_MS);
  await expect(echo([], [2])).rejects.toThrow('Command timed out');
  await waitFor(async () => (await echo([], [3]).catch(() => null)) === '3');
});
