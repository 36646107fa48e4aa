import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Credits } from '@tollgate/contracts/entitlement';
import { usageLiveKey, usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis, redisTimeMs } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import type { Answer } from '../../../test/suite/http-client.ts';
import { answerFor, holdAnswers } from '../../../test/suite/load/limited-calls.ts';
import { metricOf } from '../../../test/suite/metric.ts';
import { publishEntitlementEvent, withCredits } from '../../../test/suite/stand-ins.ts';

type Door = Pick<GatewayUnderTest, 'process' | 'query'>;
type Grant = Credits['grants'][number];

/** Two gateways; account is a stand-in that states credits as account does. */
let gateway: GatewayUnderTest;
let twin: Door;
let redis: RedisConnection;
let nextAccount = 9_000;

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

const grantOf = (points: number, span: Partial<Grant> = {}): Grant => ({
  points,
  from_ms: null,
  until_ms: null,
  ...span,
});

function payer(credits: Partial<Credits>, options: Parameters<typeof withCredits>[2] = {}) {
  const accountId = (nextAccount += 1);
  gateway.account.entitle(accountId, withCredits(accountId, credits, options));
  const token = gateway.auth.issue({ accountId });
  const live = usageLiveKey(usageShard(accountId), accountId * 10);
  return {
    accountId,
    periodId: accountId * 10,
    token,
    live,
    stream: usageStreamKey(usageShard(accountId)),
    call: (door: Door = gateway) => door.query({ token }),
    /** What account answers from now on, as gateways hear. */
    change: async (
      changed: Partial<Credits>,
      changedOptions: Parameters<typeof withCredits>[2] = options,
    ) => {
      gateway.account.entitle(accountId, withCredits(accountId, changed, changedOptions));
      await publishEntitlementEvent(gateway.redis.url, JSON.stringify({ account_id: accountId }));
    },
  };
}

/** An instant of Redis' clock, in whole ms. */
const timeMs = async () => Math.floor(await redisTimeMs(redis));

const leftOf = (answer: Answer) => Number(answer.headers['x-points-remaining']);

/** Calls until the points are used up; returns what all calls that passed have used. */
async function useUp(call: (door: Door) => Promise<Answer>, pointsPerCall = 10): Promise<number> {
  let used = 0;
  for (let calls = 0; ; calls += 1) {
    const { status } = await call(calls % 2 === 0 ? gateway : twin);
    if (status === 402) return used;
    expect(status).toBe(200);
    used += pointsPerCall;
  }
}

test('included points, then grants, over two gateways: to the last point, and X-Points-Remaining counts both', async () => {
  const { call } = payer({ included: 30, grants: [grantOf(25), grantOf(15)] });
  expect(leftOf(await call())).toBe(60);
  expect(leftOf(await call(twin))).toBe(50);
  expect(await useUp(call)).toBe(50);
});

test('a refusal says that no credits are left, and where to buy points', async () => {
  const accountId = (nextAccount += 1);
  const { billing_period = null } = withCredits(accountId, { grants: [grantOf(10)] });
  if (billing_period === null) throw new Error('there is no period');
  const buy_url = 'https://tollgate.example/user/plan';
  gateway.account.entitle(accountId, { billing_period: { ...billing_period, buy_url } });
  const token = gateway.auth.issue({ accountId });
  expect((await gateway.query({ token })).status).toBe(200);
  const refused = await gateway.query({ token });
  expect(refused.status).toBe(402);
  expect(refused.json()).toMatchObject({
    errors: [
      {
        extensions: { code: 'points_limit_exceeded', limit: 10, remaining: 0, credits_remaining: 0, buy_url },
      },
    ],
  });
  expect(refused.headers['x-points-remaining']).toBe('0');
});

test("what is settled of a period's use isn't taken from the grants again", async () => {
  const { call, periodId } = payer({ included: 100, settled: 40, grants: [grantOf(20)] });
  gateway.account.count(periodId, { points: 140 });
  expect(await useUp(call)).toBe(20);
});

test('the border of two periods: calls in flight in both spend the same credits once', async () => {
  const { call, change, accountId, periodId } = payer({ grants: [grantOf(100)] });
  const nextPeriod = periodId + 1;
  gateway.account.count(nextPeriod, { payer_id: accountId });
  const former = holdAnswers(gateway.upstream);
  const inFlight = [call(), call(twin)];
  await waitFor(() => former.length === 2);
  await change(
    { grants: [grantOf(100)], open_periods: [{ period_id: periodId, included: 0, settled: 0 }] },
    { periodId: nextPeriod },
  );
  answerAt(10);
  const isCharged = async () => (await gateway.usage(1)).some(({ period_id }) => period_id === nextPeriod);
  await waitFor(async () => (await call()).status === 200 && (await isCharged()));
  for (const end of former) end(30);
  expect((await Promise.all(inFlight)).map(({ status }) => status)).toEqual([200, 200]);
  await useUp(call);
  const all = (await gateway.usage(1)).filter(({ account_id }) => account_id === accountId);
  expect(all.reduce((sum, { points }) => sum + points, 0)).toBe(100);
});

test("a new period's included points aren't touched by overuse of the one before", async () => {
  const { call, change, accountId, periodId } = payer({ grants: [grantOf(10)] });
  gateway.account.count(periodId + 1, { payer_id: accountId });
  answerAt(500);
  expect((await call()).status).toBe(200);
  await change(
    { included: 30, grants: [grantOf(10)], open_periods: [{ period_id: periodId, included: 0, settled: 0 }] },
    { periodId: periodId + 1 },
  );
  answerAt(10);
  await waitFor(async () => (await call()).status === 200);
  expect(await useUp(call)).toBe(20);
});

test("an expiry takes effect at its instant by Redis' clock, on every gateway", async () => {
  const until_ms = (await timeMs()) + 1_500;
  const { call } = payer({ grants: [grantOf(1_000_000, { until_ms })] });
  const seen: { beganMs: number; endedMs: number; status: number }[] = [];
  const caller = async (door: Door) => {
    for (let isOver = false; !isOver;) {
      const beganMs = await timeMs();
      const { status } = await call(door);
      seen.push({ beganMs, endedMs: await timeMs(), status });
      isOver = beganMs > until_ms + 300;
    }
  };
  await Promise.all([caller(gateway), caller(twin), caller(twin)]);
  expect(seen.filter(({ beganMs, status }) => beganMs >= until_ms && status !== 402)).toEqual([]);
  expect(seen.filter(({ endedMs, status }) => endedMs < until_ms && status !== 200)).toEqual([]);
  expect(seen.filter(({ status }) => status === 200).length).toBeGreaterThan(10);
});

test('a grant begins at its instant, and what was used beyond the points before it is forgiven', async () => {
  const { call, change } = payer({ included: 10, grants: [] });
  answerAt(35);
  expect((await call()).status).toBe(200);
  expect((await call(twin)).status).toBe(402);
  const from_ms = (await timeMs()) + 700;
  await change({ included: 10, grants: [grantOf(20, { from_ms })] });
  answerAt(10);
  await waitFor(async () => (await call()).status === 200);
  expect(await timeMs()).toBeGreaterThanOrEqual(from_ms);
  expect(await useUp(call)).toBe(10);
});

test('a grant that arrives while calls are refused lets the next call pass', async () => {
  const { call, change } = payer({ included: 10, grants: [] });
  expect((await call()).status).toBe(200);
  expect((await call(twin)).status).toBe(402);
  expect((await call()).status).toBe(402);
  const from_ms = await timeMs();
  await change({ included: 10, grants: [grantOf(20, { from_ms })] });
  await waitFor(async () => (await call(twin)).status === 200);
  expect(await useUp(call)).toBe(10);
});

test('use that arrived after a grant began, and before gateways heard of it, is taken from the grant', async () => {
  const { call, change } = payer({ included: 10, grants: [] });
  const waiting = holdAnswers(gateway.upstream);
  const before = call();
  await waitFor(() => waiting.length === 1);
  const after = call();
  await waitFor(() => waiting.length === 2);
  waiting[0]?.(15);
  expect((await before).status).toBe(200);
  const from_ms = (await timeMs()) + 1;
  await waitFor(async () => (await timeMs()) > from_ms);
  waiting[1]?.(20);
  expect((await after).status).toBe(200);
  await change({ included: 10, grants: [grantOf(50, { from_ms })] });
  answerAt(10);
  await waitFor(async () => (await call(twin)).status === 200);
  expect(await useUp(call)).toBe(20);
});

test('a void ends a grant with what is left of it; what was used before is its own', async () => {
  const grants = [grantOf(50), grantOf(40)];
  const { call, change } = payer({ grants });
  for (let calls = 0; calls < 3; calls += 1) expect((await call()).status).toBe(200);
  const until_ms = await timeMs();
  await change({ grants: [grantOf(50, { until_ms }), grantOf(40)] });
  // Calls before the gateway hears of it use the other grant, too.
  expect(await useUp(call)).toBe(40);
});

test('Redis loses its data around an instant: the cut is what account states, else what the stream says', async () => {
  const { call, change, periodId, accountId } = payer({ grants: [grantOf(50), grantOf(40)] });
  expect((await call()).status).toBe(200);
  expect((await call()).status).toBe(200);
  const until_ms = (await timeMs()) + 1;
  await waitFor(async () => (await timeMs()) > until_ms);
  const voided = { grants: [grantOf(50, { until_ms }), grantOf(40)] };
  await change(voided);
  await waitFor(async () => leftOf(await call()) === 30);
  expect(leftOf(await call(twin))).toBe(20);
  // account has counted all four calls, two of them before the instant.
  gateway.account.count(periodId, {
    points: 40,
    stream_position: '1-0',
    cuts: [{ at_ms: until_ms, points: 20 }],
  });
  await redis.flushall();
  expect(leftOf(await waitFor(async () => until200(await call())))).toBe(10);
  await redis.del(usageLiveKey(usageShard(accountId), periodId));
  expect(leftOf(await waitFor(async () => until200(await call())))).toBe(0);
});

const until200 = (answer: Answer) => (answer.status === 200 ? answer : undefined);

test('live counters are lost after an announced instant: the stream tells which use was before it', async () => {
  const from_ms = (await timeMs()) + 400;
  const { call, live } = payer({ included: 20, grants: [grantOf(30, { from_ms })] });
  answerAt(25);
  expect((await call()).status).toBe(200);
  answerAt(10);
  await waitFor(async () => (await call(twin)).status === 200);
  await redis.del(live);
  // 5 points of the first call are forgiven; the second has used 10 of the grant.
  expect(leftOf(await call())).toBe(10);
  await redis.del(live);
  expect(leftOf(await call(twin))).toBe(0);
});

test('a busy payer with credits is admitted from shares, and both gateways use up the last point', async () => {
  const { token } = payer({ included: 2_000, grants: [grantOf(6_000)] }, { limits: { session_limit: 200 } });
  answerAt(7, 20);
  const fromShares = async () => {
    const of = ({ process }: Door) =>
      metricOf(process, 'tollgate_admission_decisions_total', { outcome: 'share' });
    return (await of(gateway)) + (await of(twin));
  };
  const before = await fromShares();
  let admitted = 0;
  const worker = async (door: Door, isOver: () => boolean) => {
    while (!isOver()) {
      const { status } = await door.query({ token });
      if (status === 402) return;
      expect(status).toBe(200);
      admitted += 1;
    }
  };
  // Slowly at first: shares are given while many times the recent need is left, however fast the machine is.
  let shared = 0;
  const enough = () => shared > 20;
  await Promise.all([
    worker(gateway, enough),
    worker(twin, enough),
    waitFor(async () => {
      shared = (await fromShares()) - before;
      return enough();
    }),
  ]);
  answerAt(7);
  const workers = 16;
  const never = () => false;
  await Promise.all(
    Array.from({ length: workers }, (_, index) => worker(index % 2 === 0 ? gateway : twin, never)),
  );
  expect(admitted * 7).toBeGreaterThanOrEqual(8_000);
  expect(admitted * 7).toBeLessThan(8_000 + workers * 7);
});

test('kill -9 of a gateway: what it had not settled is not used, and the rest can be', async () => {
  const doomed = await gateway.startTwin();
  const { call } = payer({ grants: [grantOf(50)] });
  expect((await call(doomed)).status).toBe(200);
  const waiting = holdAnswers(gateway.upstream);
  const lost = call(doomed).catch(() => undefined);
  await waitFor(() => waiting.length === 1);
  await doomed.process.kill();
  await lost;
  answerAt(10);
  expect(await useUp(call)).toBe(40);
});
