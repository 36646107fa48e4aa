import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { followChannels } from './follow-channels.ts';

const CHANNEL = 'suite:channel';
const DROP = 'drop all';

let follower: { close: () => void };
let told: string[];
let trustedUntilMs: number;
let server: OwnRedis;
let publisher: Redis;
let lastUsedMs: number;
let wake: (() => Promise<void>) | undefined;

beforeEach(async () => {
  server = await startRedis();
  publisher = new Redis(server.url);
  publisher.on('error', () => undefined);
  [told, trustedUntilMs, lastUsedMs, wake] = [[], 0, -Infinity, undefined];
  follower = followChannels({
    url: server.url,
    channels: [
      {
        channel: CHANNEL,
        onMessage: (message) => told.push(message),
        cache: {
          onDropAll: () => told.push(DROP),
          trustUntil: (timeMs) => {
            trustedUntilMs = timeMs;
            wake = undefined;
          },
          rest: {
            lastUsedMs: () => lastUsedMs,
            begin: (wakeUp) => {
              trustedUntilMs = 0;
              wake = wakeUp;
            },
          },
        },
      },
    ],
    logger: createLogger('suite', 'silent'),
  });
  await waitFor(() => wake !== undefined);
  told = [];
});

afterEach(async () => {
  follower.close();
  publisher.disconnect();
  await server.stop();
});

const isTrusted = () => performance.now() < trustedUntilMs;

/** As a use of the cache does. */
async function use(): Promise<void> {
  lastUsedMs = performance.now();
  await wake?.();
}

async function pings(): Promise<number> {
  const [, calls] = /cmdstat_ping:calls=(\d+)/.exec(await publisher.info('commandstats')) ?? [];
  return Number(calls ?? 0);
}

test('a cache that nothing uses is proven every few seconds, and by one PING when it is used; then it is trusted without a drop', async () => {
  const before = await pings();
  const startedMs = performance.now();
  await waitFor(async () => (await pings()) > before);
  expect(performance.now() - startedMs).toBeGreaterThan(2_000);
  await waitFor(() => wake !== undefined);
  await publisher.publish(CHANNEL, 'meanwhile');
  await use();
  expect([isTrusted(), told]).toEqual([true, ['meanwhile']]);
  const firstMs = trustedUntilMs;
  await waitFor(() => trustedUntilMs > firstMs + 1_000);
  expect(told).toEqual(['meanwhile']);
});

test('a cache that nothing uses is dropped before it is trusted again if Redis does not answer in time', async () => {
  await publisher.client('PAUSE', 1_500, 'ALL');
  let answers = false;
  const answered = publisher.ping().then(() => {
    answers = true;
  });
  await use();
  expect([answers, isTrusted(), wake, told]).toEqual([false, false, undefined, []]);
  await answered;
  await waitFor(isTrusted);
  expect(told).toEqual([DROP]);
});

test('a cache that nothing uses is dropped if its connection was cut, and then trusted while it is used', async () => {
  lastUsedMs = Infinity;
  await publisher.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await waitFor(isTrusted);
  expect(told).toEqual([DROP]);
});
