import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { payerWith, startSimulatedGateway } from '../../../test/suite/load/simulated-gateway.ts';
import type { SimulatedGateway } from '../../../test/suite/load/simulated-gateway.ts';
import { startVirtualClock } from '../../../test/suite/load/virtual-clock.ts';
import type { VirtualClock } from '../../../test/suite/load/virtual-clock.ts';
import { LEASE_MS } from '../../ledger/admit-script.ts';
import type { Lease } from '../../ledger/leases.ts';

let server: OwnRedis;
let redis: RedisConnection;
let clock: VirtualClock;
let nextPayer = 1;

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  clock = await startVirtualClock(redis);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

type Step =
  | { do: 'call'; gateway: number; points: number }
  | { do: 'burst'; points: number; calls: number }
  | { do: 'settle'; gateway: number; percent: number }
  | { do: 'lose'; gateway: number }
  | { do: 'kill'; gateway: number }
  | { do: 'expire' };

const gateway = fc.nat(4);
const points = fc.integer({ min: 1, max: 40 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('call' as const), gateway, points }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('burst' as const),
      points,
      calls: fc.integer({ min: 2, max: 12 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('settle' as const), gateway, percent: fc.nat(100) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lose' as const), gateway }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), gateway }) },
  { weight: 1, arbitrary: fc.constant({ do: 'expire' as const }) },
);

type Held = { lease: Lease; points: number };
type Door = { gateway: SimulatedGateway; held: Held[] };

/** The limit, and what was used, held and lost of it, as plain sums. */
async function startModel(gateways: number, limit: number) {
  const payerId = (nextPayer += 1);
  const payer = { ...payerWith(payerId, { points_limit: limit }), reservesPoints: true };
  const open = async (): Promise<Door> => ({
    gateway: await startSimulatedGateway({
      redisUrl: server.url,
      clock,
      snapshot: () => ({ payer_id: payerId, points: 0, stream_position: '0-0' }),
    }),
    held: [],
  });
  const doors = await Promise.all(Array.from({ length: gateways }, open));
  const doorAt = (index: number) => doors[index % gateways] as Door;
  let used = 0;
  let dead = 0;
  const reserved = () =>
    dead + doors.flatMap(({ held }) => held).reduce((sum, { points: held }) => sum + held, 0);

  async function call(door: Door, wanted: number): Promise<string> {
    const answer = await door.gateway.call(payer, 1, wanted);
    if (typeof answer === 'string') return answer;
    door.held.push({ lease: answer, points: wanted });
    return 'admitted';
  }

  async function settle(door: Door, percent: number): Promise<void> {
    const held = door.held.shift();
    if (held === undefined) return;
    const price = Math.floor((held.points * percent) / 100);
    await door.gateway.settle(payer, held.lease, price);
    used += price;
  }

  const perform: { [Do in Step['do']]: (one: Extract<Step, { do: Do }>) => Promise<void> } = {
    call: async ({ gateway: at, points: wanted }) => {
      const expected =
        used + wanted > limit
          ? 'points_limit_exceeded'
          : used + reserved() + wanted > limit
            ? 'points_reserved'
            : 'admitted';
      expect(await call(doorAt(at), wanted)).toBe(expected);
    },
    burst: async ({ points: wanted, calls }) => {
      const fitting = Math.min(Math.floor((limit - used - reserved()) / wanted), calls);
      const answers = await Promise.all(
        Array.from({ length: calls }, (_, index) => call(doorAt(index), wanted)),
      );
      expect(answers.filter((answer) => answer === 'admitted')).toHaveLength(Math.max(fitting, 0));
    },
    settle: ({ gateway: at, percent }) => settle(doorAt(at), percent),
    lose: async ({ gateway: at }) => {
      const door = doorAt(at);
      door.held.shift()?.lease.release();
      // Redis has the release when it answers.
      await door.gateway.endInterval();
    },
    kill: async ({ gateway: at }) => {
      const door = doorAt(at);
      door.gateway.kill();
      dead += door.held.reduce((sum, { points: held }) => sum + held, 0);
      Object.assign(door, await open());
    },
    expire: async () => {
      for (const door of doors) while (door.held.length > 0) await settle(door, 100);
      await clock.pass(LEASE_MS + 1);
      dead = 0;
    },
  };
  return {
    perform: (one: Step) => perform[one.do](one as never),
    used: () => used,
    close: async () => {
      for (const door of doors) while (door.held.length > 0) await settle(door, 100);
      await Promise.all(doors.map((door) => door.gateway.close()));
    },
  };
}

test.each([2, 5])(
  'over %i gateways, calls are admitted exactly while what is left covers their estimates',
  async (gateways) => {
    let most = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 20, max: 200 }),
        fc.array(step, { minLength: 10, maxLength: 50 }),
        async (limit, steps) => {
          const model = await startModel(gateways, limit);
          try {
            for (const one of steps) await model.perform(one);
          } finally {
            await model.close();
          }
          expect(model.used()).toBeLessThanOrEqual(limit);
          most = Math.max(most, model.used() / limit);
        },
      ),
      { numRuns: 30 },
    );
    // Otherwise the limit was never near.
    expect(most).toBeGreaterThan(0.8);
  },
  120_000,
);
