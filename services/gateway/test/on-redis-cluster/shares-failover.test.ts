import { afterEach, expect, test } from '@jest/globals';
import { usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import type { OwnRedis, RunningRedis } from '@tollgate/testbed/redis';
import { FAILOVER, startRedisCluster, startRedisSentinel } from '@tollgate/testbed/redis-topologies';
import { admittedBeyondPoints } from '../suite/load/limit-model.ts';
import { openCaller, startMeteredUpstream } from '../suite/load/load.ts';
import type { Caller, MeteredUpstream, Seen } from '../suite/load/load.ts';
import { metricOf } from '../suite/metric.ts';
import { startWholeStack } from '../suite/whole-stack.ts';
import type { Payer, WholeStack } from '../suite/whole-stack.ts';

const CALLERS = 16;
const LIMIT = 1_000_000;
/** At first, and when the limit is to be reached while gateways hold shares. */
const PRICES = { low: 1, high: 20_000 };

let price: number;
let upstream: MeteredUpstream;
let redis: RunningRedis;
let stack: WholeStack;
let caller: Caller;

async function startOver(running: RunningRedis): Promise<Payer> {
  price = PRICES.low;
  redis = running;
  upstream = await startMeteredUpstream(() => price);
  stack = await startWholeStack(redis, {
    httpUrl: upstream.url,
    webSocketUrl: upstream.url.replace('http', 'ws'),
  });
  caller = openCaller(stack.gateways, CALLERS);
  const [payer] = await stack.addPayers(1, {
    points_limit: LIMIT,
    session_limit: 10 * CALLERS,
    rate_limit: 10_000_000,
  });
  if (payer === undefined) throw new Error('no payer');
  return payer;
}

afterEach(async () => {
  await caller.close();
  await stack.stop();
  await Promise.all([redis.stop(), upstream.close()]);
});

/** Callers that call both gateways without a pause. */
function startCalls({ token }: Payer): { seen: readonly Seen[]; stop: () => Promise<void> } {
  const seen: Seen[] = [];
  let over = false;
  let nextId = 0;
  const calling = Array.from({ length: CALLERS }, async () => {
    while (!over) seen.push(await caller.call((nextId += 1), token));
  });
  return {
    seen,
    stop: async () => {
      over = true;
      await Promise.all(calling);
    },
  };
}

async function bothAdmitFromShares(): Promise<void> {
  const fromShares = () =>
    Promise.all(
      stack.gateways.map((gateway) =>
        metricOf(gateway, 'tollgate_admission_decisions_total', { outcome: 'share' }),
      ),
    );
  const before = await fromShares();
  const haveMore = async () =>
    (await fromShares()).every((calls, index) => calls >= (before[index] ?? 0) + CALLERS);
  await waitFor(haveMore, { ...FAILOVER, what: 'both gateways to admit calls from shares' });
}

async function pointsCounted(payer: Payer): Promise<number> {
  return (await stack.usage(payer)).billing_period.usage.points_usage;
}

const TOPOLOGIES = {
  'a Redis Cluster': async () => {
    const cluster = await startRedisCluster({ replicas: true });
    return { running: cluster, masterOf: (payer: Payer) => masterOfShard(cluster.nodes.slice(0, 3), payer) };
  },
  Sentinel: async () => {
    const sentinel = await startRedisSentinel();
    return { running: sentinel, masterOf: () => Promise.resolve(sentinel.master) };
  },
};

/** startRedisCluster divides the slots evenly. */
async function masterOfShard(masters: readonly OwnRedis[], { accountId }: Payer): Promise<OwnRedis> {
  const store = openRedis(redis.url, createLogger('suite', 'silent'));
  await waitFor(() => store.status === 'ready');
  const slot = await store.cluster('KEYSLOT', usageStreamKey(usageShard(accountId)));
  store.disconnect();
  const master = masters[Math.floor((slot * masters.length) / 16_384)];
  if (master === undefined) throw new Error('no master has the slot');
  return master;
}

test.each(Object.keys(TOPOLOGIES) as (keyof typeof TOPOLOGIES)[])(
  '%s loses the master of a payer whose shares two gateways hold: the points are exact, and counted once',
  async (topology) => {
    const { running, masterOf } = await TOPOLOGIES[topology]();
    const payer = await startOver(running);
    const calls = startCalls(payer);
    const { seen } = calls;
    try {
      await bothAdmitFromShares();
      await (await masterOf(payer)).kill();
      await waitFor(() => seen.some(({ status }) => status === 503), { what: 'a refusal' });
      await bothAdmitFromShares();
      price = PRICES.high;
      const refusedAll = () =>
        seen.length > CALLERS && seen.slice(-CALLERS).every(({ status }) => status === 402);
      await waitFor(refusedAll, { ...FAILOVER, what: 'the limit to be reached' });
    } finally {
      await calls.stop();
    }
    expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200, 503, 402]));
    const answered = seen.flatMap((one) => {
      const served = upstream.served.get(one.id);
      return one.status === 200 && served !== undefined ? { ...served, ...one } : [];
    });
    expect(admittedBeyondPoints(answered, LIMIT)).toEqual([]);
    const points = [...upstream.served.values()].reduce((sum, served) => sum + served.points, 0);
    expect(points).toBeGreaterThanOrEqual(LIMIT);
    expect(points).toBeLessThan(LIMIT + CALLERS * PRICES.high);
    await waitFor(async () => (await pointsCounted(payer)) >= points, FAILOVER);
    expect(await pointsCounted(payer)).toBe(points);
  },
  300_000,
);
