import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { REVOCATION_CHANNEL } from '@tollgate/contracts/revocation';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { Redis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { followRevocations } from './revocations.ts';

const CLIENT_ID = '6f1f6d5e-5d2a-4f0b-9c0e-0a4b1c2d3e4f';
const silent = createLogger('suite', 'silent');

let server: OwnRedis;
let publisher: Redis;
let subscriber: Redis;
let follower: { close: () => void };
/** What the listener was told, in order. */
let told: string[];
let trustedUntilMs: number;

beforeEach(async () => {
  told = [];
  trustedUntilMs = 0;
  server = await startRedis();
  publisher = openRedis(server.url, silent);
  subscriber = openRedis(server.url, silent);
  follower = followRevocations({
    redis: subscriber,
    logger: silent,
    listener: {
      dropClient: (clientId) => told.push(`client ${clientId}`),
      dropToken: (hash) => told.push(`token ${hash}`),
      dropAll: () => told.push('all'),
      trustCacheUntil: (timeMs) => (trustedUntilMs = timeMs),
    },
  });
  await waitFor(() => isTrusted() && publisher.status === 'ready');
});

afterEach(async () => {
  follower.close();
  publisher.disconnect();
  await server.stop();
});

function isTrusted(): boolean {
  return performance.now() < trustedUntilMs;
}

/** What has been told since the last time, as soon as there is something. */
async function next(): Promise<string[]> {
  await waitFor(() => told.length > 0);
  return told.splice(0);
}

test('all is dropped before the first trust, and each revocation is passed on', async () => {
  expect(await next()).toEqual(['all']);
  await publisher.publish(REVOCATION_CHANNEL, JSON.stringify({ kind: 'client', client_id: CLIENT_ID }));
  expect(await next()).toEqual([`client ${CLIENT_ID}`]);
  const token_hash = 'A'.repeat(43);
  await publisher.publish(REVOCATION_CHANNEL, JSON.stringify({ kind: 'token', token_hash }));
  expect(await next()).toEqual([`token ${token_hash}`]);
});

test('a message that can’t be read drops everything', async () => {
  await next();
  for (const message of [
    '',
    'x',
    '{',
    'null',
    '{}',
    '{"kind":"other"}',
    '{"kind":"client"}',
    '{"kind":"client","client_id":"x"}',
    '{"kind":"token","token_hash":"short"}',
  ]) {
    await publisher.publish(REVOCATION_CHANNEL, message);
    expect([message, await next()]).toEqual([message, ['all']]);
  }
});

test('trust is renewed while the subscription stands', async () => {
  const first = trustedUntilMs;
  await waitFor(() => trustedUntilMs > first + 1_000);
  expect(told).toEqual(['all']);
});

test('Redis killed: no trust any more; back again: dropped before it is trusted', async () => {
  await next();
  await server.kill();
  await waitFor(() => trustedUntilMs === 0);
  await server.restart();
  await waitFor(isTrusted);
  expect(await next()).toEqual(['all']);
  await waitFor(() => publisher.status === 'ready');
  await publisher.publish(REVOCATION_CHANNEL, JSON.stringify({ kind: 'client', client_id: CLIENT_ID }));
  expect(await next()).toEqual([`client ${CLIENT_ID}`]);
});

test('a connection that Redis cuts is made again, with a drop', async () => {
  await next();
  await publisher.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  expect(await next()).toEqual(['all']);
  await waitFor(isTrusted);
});

test('a Redis that is silent on an open connection: no trust within a second', async () => {
  const pausedMs = performance.now();
  await publisher.client('PAUSE', 3_000, 'ALL');
  await waitFor(() => !isTrusted());
  expect(trustedUntilMs - pausedMs).toBeLessThan(1_000);
  await waitFor(isTrusted);
});

test('closed: no trust, and the connection is gone', async () => {
  follower.close();
  expect(trustedUntilMs).toBe(0);
  await waitFor(() => subscriber.status === 'end');
});
