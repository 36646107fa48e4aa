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

/** No entry comes after these. */
const AFTER_ALL = new Map([...AFTER.keys()].map((stream) => [stream, '$']));

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  watch = openEntryWatch(redis) as EntryWatch;
  // Until it is connected, waiting fails.
  await waitFor(async () => !(await watch.wait(AFTER)));
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

test('a wait without an entry ends within three seconds', async () => {
  const [found, tookMs] = await timed(watch.wait(AFTER));
  expect([found, tookMs > 2_000, tookMs < 3_000]).toEqual([false, true, true]);
});

test('a wait ends with the first entry of any stream', async () => {
  const waiting = timed(watch.wait(AFTER));
  await waitFor(async () => (await redis.info('clients')).includes('blocked_clients:1'));
  await redis.xadd('other', '*', 'field', 'value');
  const [found, tookMs] = await waiting;
  expect([found, tookMs < 2_000]).toEqual([true, true]);
});

test('a wait that is interrupted fails at once, and later ones work', async () => {
  const waiting = watch.wait(AFTER_ALL).then(
    () => 'ended',
    () => 'interrupted',
  );
  await waitFor(async () => (await redis.info('clients')).includes('blocked_clients:1'));
  watch.interrupt();
  expect(await waiting).toBe('interrupted');
  await redis.xadd('one', '*', 'field', 'value');
  await waitFor(() => watch.wait(AFTER).catch(() => false));
});
