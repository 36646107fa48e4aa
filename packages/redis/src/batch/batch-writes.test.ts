import { setImmediate as turnEnd } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { RunningRedis } from '@tollgate/testbed/redis';
import { batchCalls } from './batch-calls.ts';
import { batchWrites, endLongBatch, onBatchEnd } from './batch-writes.ts';
import { openRedis } from '../redis.ts';
import type { Redis, RedisConnection } from '../redis.ts';

let server: RunningRedis;
let redis: RedisConnection;

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'));
  batchWrites(redis);
  await waitFor(() => redis.status === 'ready');
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

beforeEach(() => {
  spendMs(0);
});

afterEach(() => {
  jest.restoreAllMocks();
});

/** A turn takes no time but what is spent here: a busy machine may make any of them long. */
function spendMs(ms: number): void {
  const nowMs = performance.now() + ms;
  jest.spyOn(performance, 'now').mockReturnValue(nowMs);
}

/** Bytes of commands that were not handed to the socket. */
function heldBytes(): number {
  return (redis as Redis).stream.writableLength;
}

test('the commands of a turn are written at its end, and tasks run then', async () => {
  const ran: string[] = [];
  await turnEnd();
  onBatchEnd(() => ran.push('first'));
  const answer = redis.echo('one');
  onBatchEnd(() => ran.push('second'));
  expect(ran).toEqual([]);
  expect(heldBytes()).toBeGreaterThan(0);
  await turnEnd();
  expect(ran).toEqual(['first', 'second']);
  expect(heldBytes()).toBe(0);
  expect(await answer).toBe('one');
});

test('a turn that takes long can send what it has gathered, but not before the code that asks for it has ended', async () => {
  const ran: string[] = [];
  await turnEnd();
  onBatchEnd(() => ran.push('first'));
  const answer = redis.echo('two');
  spendMs(1);
  onBatchEnd(() => ran.push('second'));
  endLongBatch();
  expect(ran).toEqual([]);
  expect(heldBytes()).toBeGreaterThan(0);
  await Promise.resolve();
  expect(ran).toEqual(['first', 'second']);
  expect(heldBytes()).toBe(0);
  onBatchEnd(() => ran.push('third'));
  endLongBatch();
  await Promise.resolve();
  expect(ran).toHaveLength(2);
  await turnEnd();
  expect(ran).toHaveLength(3);
  expect(await answer).toBe('two');
});

test('a long turn makes several synced calls of one key, each in the order of its items', async () => {
  const calls: string[][] = [];
  const callBatch = (key: string, items: readonly string[]) => {
    calls.push([key, ...items]);
    return Promise.resolve(items.map((item) => item.toUpperCase()));
  };
  const [call, callOnce] = [batchCalls(callBatch, { isSynced: true }), batchCalls(callBatch)];
  await turnEnd();
  const results = [call('a', 'x'), call('b', 'y'), call('a', 'z')];
  spendMs(1);
  results.push(call('a', 'late'));
  await Promise.resolve();
  results.push(call('a', 'after'), callOnce('c', 'first'));
  spendMs(1);
  results.push(callOnce('c', 'second'));
  await Promise.resolve();
  expect(calls).toEqual([
    ['a', 'x', 'z', 'late'],
    ['b', 'y'],
  ]);
  expect(await Promise.all(results)).toEqual(['X', 'Y', 'Z', 'LATE', 'AFTER', 'FIRST', 'SECOND']);
  expect(calls.slice(2)).toEqual([
    ['a', 'after'],
    ['c', 'first', 'second'],
  ]);
});
