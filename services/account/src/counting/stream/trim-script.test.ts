import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { usageStreamKey, usageTrimmedKey } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { createTrimStream } from './trim-script.ts';
import { compareStreamIds } from './stream-id.ts';

const LANE = 5;
const stream = { lane: LANE, key: usageStreamKey(LANE) };
const trimmedKey = usageTrimmedKey(LANE);

let server: OwnRedis;
let redis: RedisConnection;

beforeAll(async () => {
  server = await startRedis();
  redis = await connect();
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

beforeEach(async () => {
  await redis.flushall();
});

/** Without a limit per command: on a busy machine Redis may take seconds. */
async function connect(): Promise<RedisConnection> {
  const connection = openRedis(server.url, createLogger('suite', 'silent'), { commandTimeoutMs: 0 });
  await waitFor(() => connection.status === 'ready');
  return connection;
}

const add = (id: string) => redis.xadd(stream.key, id, 'batch', 'x'.repeat(200));
const idsLeft = async () => (await redis.xrange(stream.key, '-', '+')).map(([id]) => id);

test('removes what is at or before the position, and says up to where', async () => {
  const trim = createTrimStream(redis);
  for (const id of ['5-0', '5-1', '5-2', '10-0']) await add(id);
  expect(await trim(stream, '5-1', undefined)).toEqual({ outcome: 'trimmed', trimmed: '' });
  expect([await idsLeft(), await redis.get(trimmedKey)]).toEqual([['5-2', '10-0'], '5-1']);
});

test.each([
  ['9-0', '10-0', '10-0'],
  ['10-0', '9-0', '10-0'],
  ['10-9', '10-10', '10-10'],
  ['10-10', '10-9', '10-10'],
  ['9007199254740993-0', '9007199254740992-0', '9007199254740993-0'],
  ['1-18446744073709551615', '2-0', '2-0'],
])('trimmed at %s and then at %s is %s: it is never lowered', async (first, second, reached) => {
  const trim = createTrimStream(redis);
  await trim(stream, first, undefined);
  await trim(stream, second, undefined);
  expect(await redis.get(trimmedKey)).toBe(reached);
});

test('a stream whose ids are behind the position keeps all that it has', async () => {
  const trim = createTrimStream(redis);
  await add('7-0');
  expect((await trim(stream, '8-0', undefined)).outcome).toBe('behind');
  expect([await idsLeft(), await redis.get(trimmedKey)]).toEqual([['7-0'], null]);
});

test('a stream that is empty, or not there, is not behind', async () => {
  const trim = createTrimStream(redis);
  expect((await trim(stream, '8-0', undefined)).outcome).toBe('trimmed');
  await add('9-0');
  expect((await trim(stream, '9-0', undefined)).outcome).toBe('trimmed');
  expect((await trim(stream, '9-0', undefined)).outcome).toBe('trimmed');
  expect([await idsLeft(), await redis.get(trimmedKey)]).toEqual([[], '9-0']);
});

test('a Redis that is trimmed beyond the position says up to where, and nothing is removed', async () => {
  const trim = createTrimStream(redis);
  for (const id of ['5-0', '9-0']) await add(id);
  await redis.set(trimmedKey, '7-0');
  expect(await trim(stream, '5-0', '5-0')).toEqual({ outcome: 'ahead', trimmed: '7-0' });
  expect([await idsLeft(), await redis.get(trimmedKey)]).toEqual([['5-0', '9-0'], '7-0']);
});

test.each([null, '6-9'])(
  'a Redis that has gone back to %s behind what it said is found out',
  async (said) => {
    const trim = createTrimStream(redis);
    await add('9-0');
    if (said !== null) await redis.set(trimmedKey, said);
    expect((await trim(stream, '9-0', '7-0')).outcome).toBe('redis_set_back');
    expect([await idsLeft(), await redis.get(trimmedKey)]).toEqual([['9-0'], said]);
    expect((await trim(stream, '9-0', undefined)).outcome).toBe('trimmed');
  },
);

test('a Redis out of memory is trimmed all the same', async () => {
  const trim = createTrimStream(redis);
  for (let ms = 1; ms <= 100; ms += 1) await add(`${String(ms)}-0`);
  await redis.config('SET', 'maxmemory', '1');
  await expect(add('101-0')).rejects.toThrow(/OOM/);
  expect((await trim(stream, '90-0', undefined)).outcome).toBe('trimmed');
  expect([(await idsLeft()).length, await redis.get(trimmedKey)]).toEqual([10, '90-0']);
  await redis.config('SET', 'maxmemory', '0');
});

test('whoever looks while two trim sees nothing removed beyond what is said to be removed', async () => {
  const trims = [createTrimStream(redis), createTrimStream(redis)];
  const all = Array.from({ length: 300 }, (_, index) => `${String(index + 1)}-0`);
  await Promise.all(all.map(add));
  const look = await connect();
  const over = new AbortController();
  const trimming = Promise.all(
    // One of them lags behind the other, as a replica does that has just lost the stream.
    trims.map(async (trim, lag) => {
      for (const position of all)
        await trim(stream, all[all.indexOf(position) - lag * 20] ?? '1-0', undefined);
    }),
  ).finally(() => {
    over.abort();
  });
  let looks = 0;
  let before = '0-0';
  while (!over.signal.aborted) {
    const answers = (await look.multi().xrange(stream.key, '-', '+').get(trimmedKey).exec()) ?? [];
    const left = new Set((answers[0] as [null, [string, string[]][]])[1].map(([id]) => id));
    const trimmed = (answers[1]?.[1] as string | null) ?? '0-0';
    const removed = all.filter((id) => !left.has(id));
    expect(removed.filter((id) => compareStreamIds(id, trimmed) > 0)).toEqual([]);
    expect(compareStreamIds(trimmed, before)).toBeGreaterThanOrEqual(0);
    before = trimmed;
    looks += 1;
  }
  await trimming;
  look.disconnect();
  expect(looks).toBeGreaterThan(5);
  expect([await idsLeft(), await redis.get(trimmedKey)]).toEqual([[], '300-0']);
});
