import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { liveBudgetField, usageLiveKey, usageShard } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import fc from 'fast-check';
import { payerWith } from '../../test/suite/load/simulated-gateway.ts';
import { startVirtualClock } from '../../test/suite/load/virtual-clock.ts';
import { rateKey, sharesKey } from './keys.ts';
import { createPrimeFrom } from './prime-script.ts';
import type { PayerEntitlement } from './principal.ts';
import { createShareScripts } from './share-script.ts';
import type { Grant, ShareScripts } from './share-script.ts';

let server: OwnRedis;
let redis: RedisConnection;
let lastPayerId = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = await connect();
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

async function connect(): Promise<RedisConnection> {
  const connection = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => connection.status === 'ready');
  return connection;
}

const NEED = { calls: 64, slots: 32, points: 1, trafficBytes: 1, budgets: [] };
const NOTHING_HELD = { isHeld: false, used: 0, rateState: '', level: 0 };

type Limits = Parameters<typeof payerWith>[1];

async function newPayer(limits: Limits): Promise<PayerEntitlement> {
  const payer = payerWith((lastPayerId += 1), limits);
  await createPrimeFrom(redis)(
    {
      period_id: payer.periodId,
      payer_id: payer.payerId,
      usage_lane: payer.lane,
      points: 0,
      requests: 0,
      time_ms: 0,
      traffic_bytes: 0,
      stream_position: '0-0',
      usage_version: 0,
    },
    [],
    null,
  );
  return payer;
}

async function scriptCalls(): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}

test('renewals of one turn of the event loop go together, at most 16 payers in a script call', async () => {
  const scripts = createShareScripts(redis, randomUUID());
  const payers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => newPayer({ rate_limit: 6_000 + index })),
  );
  const sync = (payer: PayerEntitlement) => scripts.sync(payer, NOTHING_HELD, NEED);
  // Redis meets the script.
  await scripts.sync(await newPayer({}), NOTHING_HELD, NEED);
  const before = await scriptCalls();
  const answers = await Promise.all(payers.map(sync));
  expect((await scriptCalls()) - before).toBe(3);
  expect(answers).toEqual(payers.map(() => expect.objectContaining({ calls: 64, level: 0 })));
  expect(new Set(await Promise.all(payers.map(({ payerId }) => redis.hlen(sharesKey(payerId)))))).toEqual(
    new Set([1]),
  );
});

test('a caller whose budgets are checked counts as a payer', async () => {
  const scripts = createShareScripts(redis, randomUUID());
  const payers = await Promise.all(Array.from({ length: 9 }, () => newPayer({ rate_limit: 6_000 })));
  const callers = (count: number) =>
    Array.from({ length: count }, (_, id) => `${liveBudgetField('application', id)} 500 -1`);
  const before = await scriptCalls();
  const answers = await Promise.all(
    payers.map((payer, index) =>
      scripts.sync(payer, NOTHING_HELD, { ...NEED, budgets: callers(index === 4 ? 32 : 3) }),
    ),
  );
  expect((await scriptCalls()) - before).toBe(3);
  expect(answers).toEqual(payers.map(() => expect.objectContaining({ calls: 64 })));
});

test('payers of several lanes go apart: a lane has the keys of one slot on a Redis Cluster', async () => {
  const scripts = createShareScripts(redis, randomUUID());
  const payers = await Promise.all(Array.from({ length: 6 }, () => newPayer({ rate_limit: 6_000 })));
  const before = await scriptCalls();
  await Promise.all(
    payers.map((payer, index) => scripts.sync({ ...payer, lane: index % 3 }, NOTHING_HELD, NEED)),
  );
  expect((await scriptCalls()) - before).toBe(3);
});

const amount = fc.nat(200);
const applicationId = fc.nat(2);
/** The argument of a caller's budgets; its figures change now and then. */
const budget = fc
  .record({ applicationId, perPeriod: fc.constantFrom(-1, 500, 4_000), perDay: fc.constantFrom(-1, 4_000) })
  .map((one) =>
    [liveBudgetField('application', one.applicationId), String(one.perPeriod), String(one.perDay)].join(' '),
  );
const request = fc.record({
  gateway: fc.nat(1),
  /** What it states is wrong now and then: Redis may have lost a share, or have one that it doesn't know of. */
  isTrue: fc.nat(9).map((one) => one > 0),
  used: amount,
  need: fc.record({
    calls: amount,
    slots: amount,
    points: amount,
    trafficBytes: amount,
    budgets: fc.array(budget, { maxLength: 3 }),
  }),
  isRecalled: fc.nat(19).map((one) => one === 0),
});
const none = fc.constant(null);
const some = fc.integer({ min: 0, max: 3_000 });
const limit = fc.oneof(none, some);
const limits = fc.record({
  rate_limit: limit,
  session_limit: limit,
  points_limit: limit,
  traffic_bytes_limit: limit,
});
const story = fc.record({
  limits,
  isLive: fc.nat(9).map((one) => one > 0),
  /** By applications with budgets, where it is known. */
  spent: fc.uniqueArray(fc.record({ applicationId, points: fc.nat(1_000) }), {
    selector: (one) => one.applicationId,
  }),
  requests: fc.array(request, { minLength: 3, maxLength: 3 }),
});

type Request = typeof request extends fc.Arbitrary<infer R> ? R : never;

test('a script call for many payers answers each, and leaves of each, what one for it alone does', async () => {
  const clock = await startVirtualClock(redis);
  const ruled = await connect();
  clock.rule(ruled);
  const gateways = [createShareScripts(ruled, 'first-gateway'), createShareScripts(ruled, 'second-gateway')];
  const outcomes = new Map<string, number>();
  const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);

  /** What a gateway knows of its share of one payer. */
  function holderOf(payer: PayerEntitlement) {
    const grants = new Map<ShareScripts, Grant>();
    return async (asked: Request) => {
      const scripts = gateways[asked.gateway];
      if (scripts === undefined) throw new Error('there is no such gateway');
      const grant = grants.get(scripts);
      const report = {
        isHeld: (grant !== undefined) === asked.isTrue,
        used: grant === undefined ? 0 : Math.min(asked.used, grant.calls),
        rateState: grant?.rateState ?? '',
        level: grant?.level ?? 0,
      };
      const answer = await scripts.sync(payer, report, asked.need);
      if (typeof answer !== 'string') grants.set(scripts, answer);
      else if (answer === 'lost') grants.delete(scripts);
      return answer;
    };
  }

  async function leftOf({ payerId, periodId }: PayerEntitlement) {
    const live = await redis.hgetall(usageLiveKey(usageShard(payerId), periodId));
    return {
      shares: await redis.hgetall(sharesKey(payerId)),
      rate: await redis.get(rateKey(payerId)),
      live: Object.entries(live).filter(([field]) => field.startsWith('share')),
    };
  }

  await fc.assert(
    fc.asyncProperty(fc.array(story, { minLength: 2, maxLength: 20 }), async (stories) => {
      const payers = await Promise.all(
        stories.map(async ({ limits: plan, isLive, spent, requests }) => {
          const pair = await Promise.all([newPayer(plan), newPayer(plan)]);
          for (const { payerId, periodId } of pair) {
            const live = usageLiveKey(usageShard(payerId), periodId);
            for (const one of spent)
              await redis.hset(
                live,
                liveBudgetField('application', one.applicationId),
                `${String(one.points)} 0 0`,
              );
            if (!isLive) await redis.del(live);
          }
          const [together, alone] = pair;
          return { together, alone, ask: holderOf(together), askAlone: holderOf(alone), requests };
        }),
      );
      for (const round of [0, 1, 2]) {
        await clock.pass(400);
        const asked = payers.flatMap((payer) => {
          const one = payer.requests[round];
          return one === undefined ? [] : [{ ...payer, one }];
        });
        for (const { one, together, alone } of asked) {
          if (!one.isRecalled) continue;
          for (const { payerId } of [together, alone])
            await redis.hset(sharesKey(payerId), 'recalled_until_us', clock.nowMs() * 1_000 + 5);
        }
        const answers = await Promise.all(asked.map(({ ask, one }) => ask(one)));
        for (const [index, { askAlone, one, together, alone }] of asked.entries()) {
          const answer = answers[index];
          expect(answer).toEqual(await askAlone(one));
          expect(await leftOf(together)).toEqual(await leftOf(alone));
          count(typeof answer === 'string' ? answer : 'granted');
          if (typeof answer === 'object' && answer.budgets.size > 0) count('covers a caller');
        }
      }
    }),
    { numRuns: 25 },
  );
  // Else nothing was tested.
  for (const outcome of ['granted', 'refused', 'lost', 'covers a caller'])
    expect(outcomes.get(outcome)).toBeGreaterThan(20);
  ruled.disconnect();
});
