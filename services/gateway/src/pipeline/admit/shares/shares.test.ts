import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { startSimulation } from '../../../../test/suite/load/share-simulation.ts';
import type { Step } from '../../../../test/suite/load/share-simulation.ts';

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

/** A test that runs into its time limit goes on beside the next one, and both set the same clock. */
const UNTIL = { interruptAfterTimeLimit: 60_000 };

const gateway = fc.nat(4);
const payer = fc.nat(2);
const between = (min: number, max: number) => fc.integer({ min, max });

/** One kind of step, that often beside the others. */
function kind<Do extends Step['do']>(
  weight: number,
  what: Do,
  parts: { [Part in keyof Omit<Extract<Step, { do: Do }>, 'do'>]: fc.Arbitrary<number> },
) {
  return {
    weight,
    arbitrary: fc.record({ do: fc.constant(what), ...parts }) as unknown as fc.Arbitrary<Step>,
  };
}

const step = fc.oneof(
  kind(6, 'calls', { gateway, payer, calls: between(1, 60) }),
  kind(3, 'calls', { gateway, payer, calls: between(60, 500) }),
  kind(2, 'batches', { gateway, payer, calls: between(1, 20), units: between(2, 10) }),
  kind(4, 'calls everywhere', { calls: between(10, 40) }),
  kind(5, 'interval', { ms: between(50, 150) }),
  kind(3, 'busy interval', { ms: between(50, 150), calls: between(1, 60) }),
  kind(4, 'settle', { gateway, payer, calls: between(1, 60), points: between(0, 30) }),
  kind(1, 'time', { ms: between(1, 900) }),
);
const rareStep = fc.oneof(
  kind(1, 'change', { gateway, payer, part: between(2, 5) }),
  kind(1, 'stall', { ms: between(1, 1_500) }),
  kind(1, 'deafen', { gateway }),
  kind(1, 'lose trust', { gateway }),
  kind(1, 'lose renewals', { gateway }),
  kind(1, 'kill', { gateway }),
  kind(1, 'kill renewing', { gateway }),
);
const steps = fc.array(fc.oneof({ weight: 20, arbitrary: step }, { weight: 1, arbitrary: rareStep }), {
  minLength: 10,
  maxLength: 60,
});

const rate_limit = between(300, 2_000);
const session_limit = between(70, 500);
const points_limit = between(500, 8_000);
const none = fc.constant(null);
/** Mostly one limit at a time, so that each is reached. */
const limits = fc.oneof(
  fc.record({ rate_limit, session_limit: none, points_limit: none }),
  fc.record({ rate_limit: none, session_limit, points_limit: none }),
  fc.record({ rate_limit: none, session_limit: none, points_limit }),
  fc.record({ rate_limit: none, session_limit: none, points_limit: none, budget: points_limit }),
  fc.record({ rate_limit, session_limit, points_limit, budget: points_limit }),
);

/** Of so many payers, whose shares are renewed by the same script calls. */
const plans = fc.array(limits, { minLength: 1, maxLength: 3 });

const decided = () => ({ share: 0, redis: 0, recall: 0 });

test('points and budgets: none are exceeded when Redis loses its data while gateways hold shares', async () => {
  const flush: fc.Arbitrary<Step> = fc.constant({ do: 'flush' });
  const some = fc.array(fc.oneof({ weight: 8, arbitrary: step }, { weight: 1, arbitrary: flush }), {
    minLength: 20,
    maxLength: 60,
  });
  const total = decided();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ points: between(1_000, 6_000), isBudget: fc.boolean() }), {
        minLength: 1,
        maxLength: 3,
      }),
      some,
      async (limited, all) => {
        const plans = limited.map(({ points, isBudget }) => ({
          rate_limit: null,
          session_limit: null,
          ...(isBudget ? { points_limit: null, budget: points } : { points_limit: points }),
        }));
        const options = { redis, redisUrl: server.url, gateways: 3, plans, decided: total };
        const simulation = await startSimulation(options);
        try {
          for (const one of all) await simulation.perform(one);
        } finally {
          await simulation.close();
        }
      },
    ),
    { numRuns: 15, ...UNTIL },
  );
  expect(total.share).toBeGreaterThan(500);
});

const NO_LIMITS = { rate_limit: null, session_limit: null, points_limit: null };

type Plan = Parameters<typeof startSimulation>[0]['plans'][number];

/** Two gateways, of which the first has admitted a call from a share. */
async function startWithShare(limited: Partial<Plan>) {
  const total = decided();
  const simulation = await startSimulation({
    redis,
    redisUrl: server.url,
    gateways: 2,
    decided: total,
    plans: [{ ...NO_LIMITS, ...limited }],
  });
  await simulation.perform({ do: 'calls', gateway: 1, calls: 1 });
  await simulation.perform({ do: 'calls', gateway: 0, calls: 20 });
  await simulation.perform({ do: 'interval', ms: 50 });
  await simulation.perform({ do: 'calls', gateway: 0, calls: 1 });
  expect(total).toEqual({ share: 1, redis: 21, recall: 0 });
  return { simulation, total };
}

test('a call under another plan is not admitted from the share', async () => {
  const { simulation, total } = await startWithShare({ session_limit: 200 });
  await simulation.perform({ do: 'change', gateway: 0, part: 2 });
  await simulation.perform({ do: 'calls', gateway: 0, calls: 1 });
  expect(total.share).toBe(1);
  await simulation.close();
});

test('points: a gateway that hung while its share expired, and missed the recall, asks Redis', async () => {
  const { simulation, total } = await startWithShare({ points_limit: 1_000 });
  await simulation.perform({ do: 'deafen', gateway: 0 });
  await simulation.perform({ do: 'stall', ms: 1_100 });
  await simulation.perform({ do: 'settle', gateway: 1, calls: 1, points: 1_000 });
  await simulation.perform({ do: 'calls', gateway: 0, calls: 1 });
  expect(total.share).toBe(1);
  await simulation.close();
});

test('budgets: a settlement at another gateway that uses one up ends the share before it is acknowledged', async () => {
  const { simulation, total } = await startWithShare({ budget: 1_000 });
  await simulation.perform({ do: 'settle', gateway: 1, calls: 1, points: 1_000 });
  expect(await simulation.holders()).toBe(0);
  await simulation.perform({ do: 'calls', gateway: 0, calls: 1 });
  expect(total.share).toBe(1);
  await simulation.close();
});

test('budgets: the share does not cover one that is nearly used up', async () => {
  const { simulation, total } = await startWithShare({ budget: 1_000 });
  await simulation.perform({ do: 'settle', gateway: 0, calls: 10, points: 95 });
  for (let intervals = 0; intervals < 4; intervals += 1) {
    await simulation.perform({ do: 'busy interval', ms: 100, calls: 1 });
  }
  const { share } = total;
  await simulation.perform({ do: 'calls', gateway: 0, calls: 1 });
  expect(await simulation.holders()).toBeGreaterThan(0);
  expect(total.share).toBe(share);
  await simulation.close();
});

test('points: usage that reaches the limit when Redis has lost its data waits until lost shares have ended', async () => {
  const { simulation, total } = await startWithShare({ points_limit: 1_000 });
  await simulation.perform({ do: 'flush' });
  await simulation.perform({ do: 'settle', gateway: 1, calls: 1, points: 1_000 });
  await simulation.perform({ do: 'calls', gateway: 0, calls: 1 });
  expect(total.share).toBe(1);
  await simulation.close();
});

test('while recalls may be missed, Redis decides, and the share is returned', async () => {
  const { simulation, total } = await startWithShare({ rate_limit: 100_000 });
  expect(await simulation.holders()).toBe(1);
  await simulation.perform({ do: 'lose trust', gateway: 0 });
  await simulation.perform({ do: 'calls', gateway: 0, calls: 20 });
  expect(total).toEqual({ share: 1, redis: 41, recall: 0 });
  await simulation.perform({ do: 'interval', ms: 50 });
  await simulation.perform({ do: 'interval', ms: 50 });
  expect(await simulation.holders()).toBe(0);
  await simulation.close();
});

test.each([
  ['killed', { do: 'kill', gateway: 0 }],
  ['hanging', { do: 'time', ms: 1 }],
] as const)(
  'calls that a %s holder did not report count as made once its share has expired',
  async (_, end) => {
    const { simulation, total } = await startWithShare({ rate_limit: 600 });
    await simulation.perform({ do: 'calls', gateway: 0, calls: 40 });
    expect(total.share).toBe(41);
    await simulation.perform(end);
    await simulation.perform({ do: 'stall', ms: 1_200 });
    for (let calls = 0; calls < 3; calls += 1) {
      await simulation.perform({ do: 'calls', gateway: 1, calls: 250 });
    }
    await simulation.close();
  },
);

test.each([
  ['is killed while Redis renews them', { do: 'kill renewing', gateway: 0 }],
  ['gets no reply to their renewal', { do: 'lose renewals', gateway: 0 }],
] as const)(
  'a gateway that holds shares of 20 payers, and %s: the calls of each count as made',
  async (_, loss) => {
    const total = decided();
    const plan = { ...NO_LIMITS, rate_limit: 600 };
    const simulation = await startSimulation({
      redis,
      redisUrl: server.url,
      gateways: 2,
      decided: total,
      plans: Array.from({ length: 20 }, () => plan),
    });
    const payers = Array.from({ length: 20 }, (_one, payer) => payer);
    const holders = () => Promise.all(payers.map((payer) => simulation.holders(payer)));
    await simulation.perform({ do: 'calls', gateway: 1, calls: 1 });
    for (const payer of payers) await simulation.perform({ do: 'calls', gateway: 0, payer, calls: 20 });
    await simulation.perform({ do: 'interval', ms: 50 });
    expect(await holders()).toEqual(payers.map(() => 1));
    for (const payer of payers) await simulation.perform({ do: 'calls', gateway: 0, payer, calls: 40 });
    expect(total.share).toBe(20 * 40);
    await simulation.perform({ do: 'stall', ms: 250 });
    await simulation.perform(loss);
    await simulation.perform({ do: 'interval', ms: 1_100 });
    for (const payer of payers) {
      for (let turn = 0; turn < 3; turn += 1)
        await simulation.perform({ do: 'calls', gateway: 1, payer, calls: 250 });
    }
    expect(total.share).toBe(20 * 40);
    await simulation.close();
  },
);

describe.each([2, 5])('%i gateways', (gateways) => {
  test('never above a limit, and no refusal while another gateway holds an unused share', async () => {
    const total = decided();
    await fc.assert(
      fc.asyncProperty(plans, steps, async (plans, all) => {
        const simulation = await startSimulation({
          redis,
          redisUrl: server.url,
          gateways,
          plans,
          decided: total,
        });
        try {
          for (const one of all) await simulation.perform(one);
        } finally {
          await simulation.close();
        }
      }),
      { numRuns: 100, ...UNTIL },
    );
    // Else nothing was tested.
    expect(total.share).toBeGreaterThan(1_000);
    expect(total.recall).toBeGreaterThan(10);
  });
});
