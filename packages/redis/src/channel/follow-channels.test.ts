import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis, RunningRedis } from '@tollgate/testbed/redis';
import { FAILOVER, startRedisCluster, startRedisSentinel } from '@tollgate/testbed/redis-topologies';
import type { RedisCluster, RedisSentinel } from '@tollgate/testbed/redis-topologies';
import { followChannels } from './follow-channels.ts';

const CHANNEL = 'suite:channel';

let running: RunningRedis;
let servers: Redis[];
let follower: { close: () => void };
let told: string[];
let trustedUntilMs: number;
let losses: number;
let firstTrustedUntilMs: number;

const DROP = 'drop all';
const NEEDLESS_DROP = 'drop all, though nothing can have been missed';

function withOwn<R extends RunningRedis>(redis: R, own: (redis: R) => readonly OwnRedis[]) {
  return { redis: redis as RunningRedis, own: own(redis) };
}

async function follow(redis: RunningRedis, own: readonly OwnRedis[]): Promise<void> {
  [told, losses, trustedUntilMs, firstTrustedUntilMs] = [[], 0, 0, 0];
  running = redis;
  servers = own.map(({ url }) => new Redis(url));
  for (const server of servers) server.on('error', () => undefined);
  follower = followChannels({
    url: redis.url,
    channels: [
      {
        channel: CHANNEL,
        onMessage: (message) => told.push(message),
        cache: {
          onDropAll: () => {
            told.push(isTrusted() ? NEEDLESS_DROP : DROP);
            firstTrustedUntilMs = 0;
          },
          trustUntil: (timeMs) => {
            if (timeMs === 0 && isTrusted()) losses += 1;
            trustedUntilMs = timeMs;
            if (firstTrustedUntilMs === 0) firstTrustedUntilMs = timeMs;
          },
        },
      },
    ],
    logger: createLogger('suite', 'silent'),
  });
  await waitFor(isTrusted);
  expectOnlyDrops();
  told = [];
}

function isTrusted(): boolean {
  return performance.now() < trustedUntilMs;
}

/** Several drops are fine: trust expires in a process that gets no CPU time. */
function expectOnlyDrops(): void {
  expect([...new Set(told)]).toEqual([DROP]);
}

/** Trust is renewed for a second, which starts over if it expires for want of CPU time. */
async function expectRenewed(): Promise<void> {
  firstTrustedUntilMs = 0;
  losses = 0;
  await waitFor(() => firstTrustedUntilMs > 0 && trustedUntilMs > firstTrustedUntilMs + 1_000);
  expect(losses).toBe(0);
  expect(told).not.toContain(NEEDLESS_DROP);
}

afterEach(() => {
  follower.close();
  for (const server of servers) server.disconnect();
});

async function expectFollowed(publishers: readonly Redis[]): Promise<void> {
  for (const [index, publisher] of publishers.entries()) {
    const message = `message ${String(index)}`;
    await waitFor(() => publisher.publish(CHANNEL, message));
    await waitFor(() => told.includes(message));
  }
}

async function subscribers(server: Redis | undefined): Promise<number> {
  const answer = (await server?.call('PUBSUB', 'NUMSUB', CHANNEL)) as [string, number] | undefined;
  return answer?.[1] ?? 0;
}

const ownOf = (redis: OwnRedis) => [redis];

describe.each([
  { topology: 'one server', start: async () => withOwn(await startRedis(), ownOf) },
  { topology: 'Sentinel', start: async () => withOwn(await startRedisSentinel(), ({ master }) => [master]) },
  {
    topology: 'a Redis Cluster',
    start: async () => withOwn(await startRedisCluster(), ({ nodes }) => nodes),
  },
])('$topology', ({ start }) => {
  let started: Awaited<ReturnType<typeof start>>;

  beforeAll(async () => {
    started = await start();
  });

  beforeEach(() => follow(started.redis, started.own));

  afterAll(() => started.redis.stop());

  test('what any master publishes is passed on, and trust is renewed without a drop', async () => {
    for (const server of servers) expect(await subscribers(server)).toBe(1);
    await expectFollowed(servers);
    await expectRenewed();
  });

  test('killed: no trust any more; back again: dropped before it is trusted', async () => {
    await running.kill();
    await waitFor(() => trustedUntilMs === 0);
    await running.restart();
    await waitFor(isTrusted, FAILOVER);
    expectOnlyDrops();
  });

  test('one connection that Redis cuts is made again, with a drop', async () => {
    await servers.at(-1)?.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await waitFor(() => told.includes(DROP) && isTrusted());
    await expectFollowed(servers);
  });

  test('one master that is silent on an open connection: no trust within a second', async () => {
    await servers.at(-1)?.client('PAUSE', 3_000, 'ALL');
    const pausedMs = performance.now();
    await waitFor(() => !isTrusted());
    expect(trustedUntilMs - pausedMs).toBeLessThan(1_000);
    await waitFor(isTrusted);
    expect(told).toContain(DROP);
  });

  test('closed: no trust, and no subscriber is left', async () => {
    follower.close();
    expect(trustedUntilMs).toBe(0);
    await waitFor(async () => (await subscribers(servers[0])) === 0);
  });
});

describe('a Redis Cluster with replicas', () => {
  let cluster: RedisCluster;

  beforeEach(async () => {
    cluster = await startRedisCluster({ replicas: true });
    await follow(cluster, cluster.nodes);
  });

  afterEach(() => cluster.stop());

  test('a master killed: no trust until its replica has taken over and is followed', async () => {
    await cluster.nodes[0]?.kill();
    await waitFor(() => trustedUntilMs === 0);
    await waitFor(isTrusted, FAILOVER);
    expectOnlyDrops();
    expect((await servers[3]?.role())?.[0]).toBe('master');
    expect(await subscribers(servers[3])).toBe(1);
    await expectFollowed(servers.slice(1, 4));
  });

  test('a replica promoted while its master lives on: a drop, then the new one is followed and the old one isn’t', async () => {
    await waitFor(
      async () => {
        // Redis gives up a manual failover if the nodes take too long to agree.
        if ((await servers[3]?.role())?.[0] === 'master') return true;
        await servers[3]?.call('CLUSTER', 'FAILOVER');
        return false;
      },
      { ...FAILOVER, intervalMs: 500 },
    );
    await waitFor(async () => told.includes(DROP) && isTrusted() && (await subscribers(servers[3])) === 1);
    await waitFor(async () => (await subscribers(servers[0])) === 0);
    await expectFollowed(servers.slice(1, 4));
  });
});

describe('Sentinel', () => {
  let sentinel: RedisSentinel;

  beforeEach(async () => {
    sentinel = await startRedisSentinel();
    await follow(sentinel, [sentinel.master, sentinel.replica, ...sentinel.sentinels]);
  });

  afterEach(() => sentinel.stop());

  test('the master killed: no trust until the new one is followed', async () => {
    await sentinel.master.kill();
    await waitFor(() => trustedUntilMs === 0);
    await waitFor(isTrusted, FAILOVER);
    expectOnlyDrops();
    expect(await subscribers(servers[1])).toBe(1);
    await expectFollowed(servers.slice(1, 2));
  });

  test('a failover while the old master lives on: its subscription counts no more', async () => {
    await servers[2]?.call('SENTINEL', 'FAILOVER', 'tollgate');
    await waitFor(() => told.includes(DROP) && isTrusted(), FAILOVER);
    // The old master notices only seconds later.
    expect((await servers[0]?.role())?.[0]).toBe('master');
    expect([await subscribers(servers[0]), await subscribers(servers[1])]).toEqual([0, 1]);
  });

  test('a master that has become a replica is not trusted, whatever the sentinels say', async () => {
    await servers[0]?.replicaof('127.0.0.1', 9);
    await waitFor(() => trustedUntilMs === 0);
    await servers[0]?.replicaof('NO', 'ONE');
    await waitFor(isTrusted, FAILOVER);
  });

  test('one sentinel away changes nothing; with most of them away nothing is trusted', async () => {
    await sentinel.sentinels[0]?.kill();
    await expectRenewed();
    await sentinel.sentinels[1]?.kill();
    await waitFor(() => !isTrusted());
  });
});

describe('several channels', () => {
  let server: OwnRedis;
  let publisher: Redis;
  let trusted: Map<string, number>;

  beforeEach(async () => {
    server = await startRedis();
    publisher = new Redis(server.url);
    servers = [publisher];
    told = [];
    trusted = new Map();
  });

  afterEach(async () => {
    follower.close();
    publisher.disconnect();
    await server.stop();
  });

  function followAll(cached: readonly string[], others: readonly string[]): void {
    const onMessage = (channel: string) => (message: string) => told.push(`${channel} ${message}`);
    follower = followChannels({
      url: server.url,
      channels: [
        ...cached.map((channel) => ({
          channel,
          onMessage: onMessage(channel),
          cache: {
            onDropAll: () => told.push(`${channel} dropped`),
            trustUntil: (timeMs: number) => trusted.set(channel, timeMs),
          },
        })),
        ...others.map((channel) => ({ channel, onMessage: onMessage(channel), cache: null })),
      ],
      logger: createLogger('suite', 'silent'),
    });
  }

  async function publishUntilTold(channel: string): Promise<void> {
    await waitFor(async () => {
      await publisher.publish(channel, 'message');
      return told.includes(`${channel} message`);
    });
  }

  test('share a connection and trust; each gets its own messages', async () => {
    followAll(['one', 'other'], ['third']);
    const isAllTrusted = () => ['one', 'other'].every((name) => (trusted.get(name) ?? 0) > performance.now());
    await waitFor(isAllTrusted);
    expect(told.toSorted()).toEqual(['one dropped', 'other dropped']);
    for (const channel of ['one', 'other', 'third']) await publishUntilTold(channel);
    const subscribed = (await publisher.call('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string;
    expect(subscribed.trim().split('\n')).toHaveLength(1);
  });

  test('of which no cache depends are followed again after a cut', async () => {
    followAll([], ['one', 'other']);
    await publishUntilTold('one');
    told = [];
    await publisher.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    for (const channel of ['one', 'other']) await publishUntilTold(channel);
  });
});
