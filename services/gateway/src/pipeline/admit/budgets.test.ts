import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Budget, Budgets, Limits } from '@tollgate/contracts/entitlement';
import { usageLiveKey, usageShard } from '@tollgate/contracts/usage-stream';
import type { Spent } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis, redisTimeMs } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import type { Answer } from '../../../test/suite/http-client.ts';
import { answerFor, holdAnswers } from '../../../test/suite/load/limited-calls.ts';
import { metricOf } from '../../../test/suite/metric.ts';
import { publishEntitlementEvent, withBudgets } from '../../../test/suite/stand-ins.ts';
import { untilStatus } from '../../../test/suite/until-status.ts';

type Door = Pick<GatewayUnderTest, 'process' | 'query'>;

/** Two gateways; account is a stand-in that states budgets as account does. */
let gateway: GatewayUnderTest;
let twin: Door;
let redis: RedisConnection;
let nextAccount = 11_000;

beforeAll(async () => {
  gateway = await startGateway();
  twin = await gateway.startTwin();
  redis = openRedis(gateway.redis.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
});

beforeEach(() => {
  answerAt(10);
});

afterAll(async () => {
  redis.disconnect();
  await gateway.stop();
});

const answerAt = (points: number, afterMs?: number) => {
  gateway.upstream(answerFor(points, afterMs));
};

const NO_BUDGET: Budget = { points_per_period: null, points_per_day: null };

type Wanted = { application?: Partial<Budget>; member?: Partial<Budget> };

/** An account, an application with a budget of its own, and another application without one. */
function caller(
  wanted: Wanted,
  { limits = {}, payerId }: { limits?: Partial<Limits>; payerId?: number } = {},
) {
  const accountId = (nextAccount += 1);
  const [applicationId, otherId] = [accountId * 100, accountId * 100 + 1];
  let periodId = (payerId ?? accountId) * 10;
  const entitle = ({ application, member }: Wanted) => {
    const budgets: Budgets = {};
    if (member !== undefined) budgets.member = { ...NO_BUDGET, ...member };
    if (application !== undefined) {
      budgets.applications = [{ application_id: applicationId, ...NO_BUDGET, ...application }];
    }
    gateway.account.entitle(accountId, {
      ...withBudgets(accountId, budgets, { limits, periodId }),
      payer_id: payerId ?? accountId,
    });
  };
  entitle(wanted);
  const publish = () => publishEntitlementEvent(gateway.redis.url, JSON.stringify({ account_id: accountId }));
  const token = gateway.auth.issue({ accountId, applicationId });
  const otherToken = gateway.auth.issue({ accountId, applicationId: otherId });
  return {
    accountId,
    applicationId,
    periodId,
    token,
    live: usageLiveKey(usageShard(payerId ?? accountId), periodId),
    call: (door: Door = gateway) => door.query({ token }),
    callByOther: (door: Door = gateway) => door.query({ token: otherToken }),
    /** What account answers from now on, as gateways hear. */
    change: async (changed: Wanted) => {
      entitle(changed);
      await publish();
    },
    /** Another period has begun. */
    renew: async () => {
      periodId += 1;
      gateway.account.count(periodId, { payer_id: payerId ?? accountId });
      entitle(wanted);
      await publish();
    },
  };
}

/** Calls by both gateways until one is refused; returns what those that passed have used, and the refusal. */
async function useUp(call: (door: Door) => Promise<Answer>, pointsPerCall = 10) {
  let used = 0;
  for (let calls = 0; ; calls += 1) {
    const answer = await call(calls % 2 === 0 ? gateway : twin);
    if (answer.status === 402) return { used, refused: answer };
    expect(answer.status).toBe(200);
    used += pointsPerCall;
  }
}

const extensionsOf = (answer: Answer) =>
  (answer.json() as { errors: { extensions: Record<string, unknown> }[] }).errors[0]?.extensions;

const DAY_MS = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Midnight UTC after the present moment of Redis' clock. */
async function midnight(): Promise<number> {
  return (Math.floor((await redisTimeMs(redis)) / DAY_MS) + 1) * DAY_MS;
}

test("an application's budget per period: both gateways refuse when it is used up, and say which it is", async () => {
  const { call, callByOther } = caller({ application: { points_per_period: 30 } });
  const { used, refused } = await useUp(call);
  expect(used).toBe(30);
  expect(refused.headers).toMatchObject({ 'x-billing-status': 'active', 'x-points-cost': '0' });
  expect(refused.headers['retry-after']).toBeUndefined();
  expect(extensionsOf(refused)).toEqual({
    code: 'budget_exceeded',
    budget: 'application',
    window: 'period',
    limit: 30,
    remaining: 0,
    resets_at: '2100-01-01T00:00:00Z',
    request_id: refused.headers['x-request-id'],
  });
  expect((await call(twin)).status).toBe(402);
  expect((await callByOther()).status).toBe(200);
});

test("a member's budget per day holds for all of the account's applications until midnight UTC", async () => {
  const payerId = (nextAccount += 1);
  const { call, callByOther } = caller({ member: { points_per_day: 30 } }, { payerId });
  expect((await callByOther()).status).toBe(200);
  const { used, refused } = await useUp(call);
  expect(used).toBe(20);
  const midnightMs = await midnight();
  expect(extensionsOf(refused)).toMatchObject({
    code: 'budget_exceeded',
    budget: 'member',
    window: 'day',
    limit: 30,
    remaining: 0,
    resets_at: new Date(midnightMs).toISOString().replace('.000Z', 'Z'),
  });
  const leftSec = (midnightMs - (await redisTimeMs(redis))) / 1_000;
  const retrySec = Number(refused.headers['retry-after']);
  expect(Math.abs(retrySec - leftSec)).toBeLessThan(10);
  expect(extensionsOf(refused)?.['retry_after_sec']).toBe(retrySec);
  expect((await callByOther(twin)).status).toBe(402);
});

test('points of the plan are refused first, then the member, then the application', async () => {
  const named = async (wanted: Wanted, points_limit: number | null) => {
    const { call } = caller(wanted, { limits: { points_limit } });
    const { refused } = await useUp(call);
    const { code, budget, window } = extensionsOf(refused) ?? {};
    return [code, budget, window];
  };
  const both = { application: { points_per_period: 10 }, member: { points_per_period: 10 } };
  expect((await named(both, 10))[0]).toBe('points_limit_exceeded');
  expect(await named(both, 100)).toEqual(['budget_exceeded', 'member', 'period']);
  const lower = { application: { points_per_period: 10 }, member: { points_per_period: 20 } };
  expect(await named(lower, null)).toEqual(['budget_exceeded', 'application', 'period']);
  const windows = { application: { points_per_period: 10, points_per_day: 10 } };
  expect(await named(windows, null)).toEqual(['budget_exceeded', 'application', 'period']);
});

test('a budget of 0 allows nothing, and one without a figure everything', async () => {
  expect((await caller({ application: { points_per_day: 0 } }).call()).status).toBe(402);
  expect((await caller({ member: { points_per_period: 0 } }).call()).status).toBe(402);
  const { call } = caller({ application: NO_BUDGET, member: NO_BUDGET });
  for (let calls = 0; calls < 3; calls += 1) expect((await call()).status).toBe(200);
});

test('a budget that is raised, lowered or removed holds for the next calls', async () => {
  const { call, change } = caller({ application: { points_per_period: 20 } });
  expect((await useUp(call)).used).toBe(20);
  await change({ application: { points_per_period: 50 } });
  await waitFor(async () => (await call()).status === 200);
  expect((await useUp(call)).used).toBe(20);
  await change({ application: { points_per_period: 1_000 } });
  await waitFor(async () => (await call(twin)).status === 200);
  await change({ application: { points_per_period: 10 } });
  await waitFor(async () => (await call()).status === 402);
  await waitFor(async () => (await call(twin)).status === 402);
  await change({});
  await waitFor(async () => (await call()).status === 200);
});

test('a new budget counts what was used before it', async () => {
  const { call, change } = caller({});
  let used = 0;
  for (; used < 30; used += 10) expect((await call()).status).toBe(200);
  await change({ application: { points_per_period: 100 } });
  await waitFor(async () => {
    const { status } = await call();
    if (status === 200) used += 10;
    return status === 402;
  });
  expect(used).toBe(100);
});

test("what account has counted is spent: a day's of today only, a period's of every day", async () => {
  const todayMs = (await midnight()) - DAY_MS;
  const days = (points: number, ms: number): Spent['days'] => [{ day: dayOf(ms), points }];
  const spent = (all: Spent) => {
    const one = caller({ application: { points_per_day: 100, points_per_period: 1_000 } });
    gateway.account.spend('application', one.applicationId, all);
    return one.call;
  };
  const yesterday = spent({ points: 500, days: days(100, todayMs - DAY_MS) });
  expect((await useUp(yesterday)).used).toBe(100);
  const today = spent({ points: 500, days: [...days(100, todayMs - DAY_MS), ...days(70, todayMs)] });
  expect((await useUp(today)).used).toBe(30);
  const period = spent({ points: 980, days: [] });
  expect((await useUp(period)).used).toBe(20);
});

test('a day is one budget, though a period ends in it', async () => {
  const { call, renew, accountId, periodId } = caller({
    application: { points_per_day: 100, points_per_period: 90 },
  });
  for (let calls = 0; calls < 3; calls += 1) expect((await call()).status).toBe(200);
  await renew();
  const { refused } = await useUp(call);
  expect(extensionsOf(refused)).toMatchObject({ window: 'day' });
  const used = await gateway.usage(1, accountId);
  expect(used.some(({ period_id }) => period_id !== periodId)).toBe(true);
  expect(used.reduce((sum, { points }) => sum + points, 0)).toBe(100);
});

test('many callers at two gateways: no more is admitted than the budget and what is in flight', async () => {
  const { call } = caller({ application: { points_per_day: 2_000 } }, { limits: { session_limit: 200 } });
  answerAt(7, 3);
  const workers = 16;
  let admitted = 0;
  const worker = async (door: Door) => {
    for (;;) {
      const { status } = await call(door);
      if (status === 402) return;
      expect(status).toBe(200);
      admitted += 1;
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, index) => worker(index % 2 === 0 ? gateway : twin)));
  expect(admitted * 7).toBeGreaterThanOrEqual(2_000);
  expect(admitted * 7).toBeLessThan(2_000 + workers * 7);
  expect([(await call()).status, (await call(twin)).status]).toEqual([402, 402]);
});

test('a caller far from its budget is admitted from a share, and to the last point of it by both gateways', async () => {
  const { call, callByOther } = caller(
    { application: { points_per_period: 8_000 } },
    { limits: { rate_limit: 1_000_000, points_limit: 10_000_000 } },
  );
  answerAt(7, 20);
  const byShare = async () => {
    const of = ({ process }: Door) =>
      metricOf(process, 'tollgate_admission_decisions_total', { outcome: 'share' });
    return (await of(gateway)) + (await of(twin));
  };
  const before = await byShare();
  let admitted = 0;
  const worker = async (door: Door, isOver: () => boolean) => {
    while (!isOver()) {
      const { status } = await call(door);
      if (status === 402) return;
      expect(status).toBe(200);
      admitted += 1;
    }
  };
  // Slowly at first: a share covers a caller while many times the recent need is left, however fast the machine is.
  let shared = 0;
  const enough = () => shared > 20;
  await Promise.all([
    worker(gateway, enough),
    worker(twin, enough),
    waitFor(async () => {
      shared = (await byShare()) - before;
      return enough();
    }),
  ]);
  answerAt(7);
  let isOver = false;
  const other = async () => {
    while (!isOver) expect((await callByOther()).status).toBe(200);
  };
  const others = [other(), other()];
  const workers = 16;
  const never = () => false;
  await Promise.all(
    Array.from({ length: workers }, (_, index) => worker(index % 2 === 0 ? gateway : twin, never)),
  );
  isOver = true;
  await Promise.all(others);
  expect(admitted * 7).toBeGreaterThanOrEqual(8_000);
  expect(admitted * 7).toBeLessThan(8_000 + workers * 7);
  expect([(await call()).status, (await call(twin)).status]).toEqual([402, 402]);
});

test('Redis loses everything: what account has counted and what is in the stream are spent', async () => {
  const { call, applicationId, periodId, live } = caller({ application: { points_per_period: 100 } });
  for (let calls = 0; calls < 3; calls += 1) expect((await call()).status).toBe(200);
  await redis.del(live);
  expect((await call(twin)).status).toBe(200);
  gateway.account.spend('application', applicationId, { points: 40, days: [] });
  gateway.account.count(periodId, { points: 40, stream_position: '1-0' });
  await redis.flushall();
  await untilStatus(async () => (await call()).status, 200, [503]);
  expect((await useUp(call)).used).toBe(50);
});

test('without a figure of account nothing is admitted: 503, and never more than the budget', async () => {
  const { call, periodId } = caller({ member: { points_per_period: 100 } });
  gateway.account.count(periodId, { budgets: {} });
  expect((await call()).status).toBe(503);
  gateway.account.count(periodId, {});
  expect((await useUp(call)).used).toBe(100);
});

test('kill -9 of a gateway: what it had not settled is not spent, and the rest can be', async () => {
  const doomed = await gateway.startTwin();
  const { call } = caller({ member: { points_per_day: 50 } });
  expect((await call(doomed)).status).toBe(200);
  const waiting = holdAnswers(gateway.upstream);
  const lost = call(doomed).catch(() => undefined);
  await waitFor(() => waiting.length === 1);
  await doomed.process.kill();
  await lost;
  answerAt(10);
  expect((await useUp(call)).used).toBe(40);
});
