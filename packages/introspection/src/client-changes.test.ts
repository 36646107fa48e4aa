import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CLIENT_CHANGE_CHANNEL } from '@tollgate/contracts/client-change';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { followChannels } from '@tollgate/redis/follow-channels';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { clientChangeChannel } from './client-changes.ts';
import type { ClientChangeListener } from './client-changes.ts';

const CLIENT_ID = '6f1f6d5e-5d2a-4f0b-9c0e-0a4b1c2d3e4f';
const COMMON = { client_id: CLIENT_ID, revocation_epoch: 1, source: 'account' };
const APPLICATION = { change: 'application', ...COMMON };
const TOKEN = { change: 'token', token_hash: 'A'.repeat(43), ...COMMON };
const silent = createLogger('suite', 'silent');

let server: OwnRedis;
let publisher: RedisConnection;
let follower: { close: () => void };
let told: string[];
let dropped: unknown[];
let trustedUntilMs: number;

beforeEach(async () => {
  told = [];
  dropped = [];
  trustedUntilMs = 0;
  server = await startRedis();
  publisher = openRedis(server.url, silent);
  const listener: ClientChangeListener = {
    dropClient: (clientId) => told.push(`client ${clientId}`),
    dropToken: (hash) => told.push(`token ${hash}`),
    dropAll: () => told.push('all'),
    trustCacheUntil: (timeMs) => (trustedUntilMs = timeMs),
    onDropped: (what) => dropped.push([what, told.length]),
  };
  const channels = [clientChangeChannel(listener, silent)];
  follower = followChannels({ url: server.url, channels, logger: silent });
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

async function next(): Promise<string[]> {
  await waitFor(() => told.length > 0);
  return told.splice(0);
}

test('all is dropped before the first trust, and each revocation is passed on', async () => {
  expect(await next()).toEqual(['all']);
  await publisher.publish(CLIENT_CHANGE_CHANNEL, JSON.stringify(APPLICATION));
  expect(await next()).toEqual([`client ${CLIENT_ID}`]);
  await publisher.publish(CLIENT_CHANGE_CHANNEL, JSON.stringify(TOKEN));
  expect(await next()).toEqual([`token ${TOKEN.token_hash}`]);
});

test('a message that can’t be read drops everything', async () => {
  await next();
  for (const message of [
    '',
    'x',
    '{',
    'null',
    '{}',
    JSON.stringify({ ...APPLICATION, change: 'other' }),
    JSON.stringify({ ...APPLICATION, revocation_epoch: undefined }),
    JSON.stringify({ ...APPLICATION, client_id: 'x' }),
    JSON.stringify({ ...TOKEN, token_hash: 'short' }),
  ]) {
    await publisher.publish(CLIENT_CHANGE_CHANNEL, message);
    expect([message, await next()]).toEqual([message, ['all']]);
  }
});

test('onDropped is told of each, and of all, after the cache has dropped it', async () => {
  const changes = [APPLICATION, TOKEN];
  for (const change of changes) {
    await publisher.publish(CLIENT_CHANGE_CHANNEL, JSON.stringify(change));
  }
  await publisher.publish(CLIENT_CHANGE_CHANNEL, 'unreadable');
  await waitFor(() => dropped.length === 4);
  expect(dropped).toEqual(['all', ...changes, 'all'].map((what, index) => [what, index + 1]));
  expect(told).toEqual(['all', `client ${CLIENT_ID}`, `token ${TOKEN.token_hash}`, 'all']);
});

test('Redis killed: no trust any more; back again: dropped before it is trusted', async () => {
  await next();
  await server.kill();
  await waitFor(() => trustedUntilMs === 0);
  await server.restart();
  await waitFor(isTrusted);
  expect(await next()).toEqual(['all']);
  await waitFor(() => publisher.status === 'ready');
  await publisher.publish(CLIENT_CHANGE_CHANNEL, JSON.stringify(APPLICATION));
  expect(await next()).toEqual([`client ${CLIENT_ID}`]);
});
