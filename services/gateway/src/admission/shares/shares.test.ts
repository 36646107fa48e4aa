import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { startSimulation } from '../../../test/suite/load/share-simulation.ts';
import type { Step } from '../../../test/suite/load/share-simulation.ts';

let server: OwnRedis;
let redis: RedisConnection;

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const gateway = fc.nat(4);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('calls' as const),
      gateway,
      calls: fc.integer({ min: 1, max: 60 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('calls' as const),
      gateway,
      calls: fc.integer({ min: 60, max: 500 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('calls everywhere' as const),
      calls: fc.integer({ min: 10, max: 40 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('interval' as const), ms: fc.integer({ min: 50, max: 150 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('busy interval' as const),
      ms: fc.integer({ min: 50, max: 150 }),
      calls: fc.integer({ min: 1, max: 60 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      gateway,
      calls: fc.integer({ min: 1, max: 60 }),
      points: fc.integer({ min: 0, max: 30 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('time' as const), ms: fc.integer({ min: 1, max: 900 }) }),
  },
);
const rareStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      gateway,
      part: fc.integer({ min: 2, max: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('stall' as const), ms: fc.integer({ min: 1, max: 1_500 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deafen' as const), gateway }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), gateway }) },
);
const steps = fc.array(fc.oneof({ weight: 20, arbitrary: step }, { weight: 1, arbitrary: rareStep }), {
  minLength: 10,
  maxLength: 60,
});

const rate_limit = fc.integer({ min: 300, max: 2_000 });
const session_limit = fc.integer({ min: 70, max: 500 });
const points_limit = fc.integer({ min: 500, max: 8_000 });
const none = fc.constant(null);
/** Mostly one limit at a time, so that each is reached. */
const limits = fc.oneof(
  fc.record({ rate_limit, session_limit: none, points_limit: none }),
  fc.record({ rate_limit: none, session_limit, points_limit: none }),
  fc.record({ rate_limit: none, session_limit: none, points_limit }),
  fc.record({ rate_limit, session_limit, points_limit }),
);

const decided = () => ({ share: 0, redis: 0, recall: 0 });

test('points: none are admitted beyond the limit when Redis loses its data while gateways hold shares', async () => {
  const flush: fc.Arbitrary<Step> = fc.constant({ do: 'flush' });
  const some = fc.array(fc.oneof({ weight: 8, arbitrary: step }, { weight: 1, arbitrary: flush }), {
    minLength: 20,
    maxLength: 60,
  });
  const total = decided();
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1_000, max: 6_000 }), some, async (points_limit, all) => {
      const plan = { rate_limit: null, session_limit: null, points_limit };
      const options = { redis, redisUrl: server.url, gateways: 3, plan, decided: total };
      const simulation = await startSimulation(options);
      try {
        for (const one of all) await simulation.perform(one);
      } finally {
        await simulation.close();
      }
    }),
    { numRuns: 15 },
  );
  expect(total.share).toBeGreaterThan(500);
}, 120_000);

test('a call under another plan is not admitted from the share', async () => {
  const plan = { rate_limit: null, session_limit: 200, points_limit: null };
  const total = decided();
  const simulation = await startSimulation({
    redis,
    redisUrl: server.url,
    gateways: 2,
    plan,
    decided: total,
  });
  await simulation.perform({ do: 'calls', gateway: 1, calls: 90 });
  await simulation.perform({ do: 'calls', gateway: 0, calls: 20 });
  await simulation.perform({ do: 'interval', ms: 50 });
  await simulation.perform({ do: 'calls', gateway: 0, calls: 1 });
  expect(total.share).toBe(1);
  await simulation.perform({ do: 'change', gateway: 0, part: 2 });
  await simulation.perform({ do: 'calls', gateway: 0, calls: 1 });
  await simulation.close();
});

test.each([
  ['killed', { do: 'kill', gateway: 0 }],
  ['hanging', { do: 'time', ms: 1 }],
] as const)(
  'calls that a %s holder did not report count as made once its share has expired',
  async (_, end) => {
    const plan = { rate_limit: 600, session_limit: null, points_limit: null };
    const total = decided();
    const options = { redis, redisUrl: server.url, gateways: 2, plan, decided: total };
    const simulation = await startSimulation(options);
    await simulation.perform({ do: 'calls', gateway: 0, calls: 20 });
    await simulation.perform({ do: 'interval', ms: 50 });
    await simulation.perform({ do: 'calls', gateway: 0, calls: 40 });
    expect(total.share).toBe(40);
    await simulation.perform(end);
    await simulation.perform({ do: 'stall', ms: 1_200 });
    for (let calls = 0; calls < 3; calls += 1) {
      await simulation.perform({ do: 'calls', gateway: 1, calls: 250 });
    }
    await simulation.close();
  },
);

describe.each([2, 5])('%i gateways', (gateways) => {
  test('never above a limit, and no refusal while another gateway holds an unused share', async () => {
    const total = decided();
    await fc.assert(
      fc.asyncProperty(limits, steps, async (plan, all) => {
        const simulation = await startSimulation({
          redis,
          redisUrl: server.url,
          gateways,
          plan,
          decided: total,
        });
        try {
          for (const one of all) await simulation.perform(one);
        } finally {
          await simulation.close();
        }
      }),
      { numRuns: 100 },
    );
    // Else nothing was tested.
    expect(total.share).toBeGreaterThan(1_000);
    expect(total.recall).toBeGreaterThan(10);
  }, 120_000);
});
