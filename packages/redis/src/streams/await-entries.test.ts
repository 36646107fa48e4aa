import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { openEntryWatch } from './await-entries.ts';
import type { EntryWatch } from './await-entries.ts';
import { openRedis } from '../redis.ts';
import type { RedisConnection } from '../redis.ts';

let server: OwnRedis;
let redis: RedisConnection;
let watch: EntryWatch;

const AFTER = new Map([
  ['one', '0-0'],
  ['other', '0-0'],
]);

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  watch = openEntryWatch(redis) as EntryWatch;
  // Until it is connected, waiting fails.
  await waitFor(async () => !(await watch.wait(AFTER, 1)));
});

afterAll(async () => {
  watch.close();
  redis.disconnect();
  await server.stop();
});

async function timed(wait: Promise<boolean>): Promise<[boolean, number]> {
  const startedMs = performance.now();
  return [await wait, performance.now() - startedMs];
}

test('a wait ends at its limit, also one that is used up, and without a limit within three seconds', async () => {
  const [found, tookMs] = await timed(watch.wait(AFTER, 300));
  expect([found, tookMs < 1_500]).toEqual([false, true]);
  expect(await watch.wait(AFTER, -1)).toBe(false);
  const [foundAtAll, longMs] = await timed(watch.wait(AFTER));
  expect([foundAtAll, longMs > 2_000, longMs < 3_000]).toEqual([false, true, true]);
});

test('a wait ends with the first entry of any stream', async () => {
  const waiting = timed(watch.wait(AFTER));
  await waitFor(async () => (await redis.info('clients')).includes('blocked_clients:1'));
  await redis.xadd('other', '*', 'field', 'value');
  const [found, tookMs] = await waiting;
  expect([found, tookMs < 2_000]).toEqual([true, true]);
});
