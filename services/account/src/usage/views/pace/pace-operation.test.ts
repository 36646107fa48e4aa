import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newOwner } from '../../../../test/suite/console.ts';
import { startPeople } from '../../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../../test/suite/people.ts';
import { insertPeriod, insertTeam, secondsFromNow } from '../../../../test/suite/database/records.ts';
import { countPastUsage } from '../../../../test/suite/usage/usage-rows.ts';
import { elapsedShare } from './pace.ts';

/** How the limits of the current period are used up, as the console shows it. */

const DAY_SEC = 86_400;

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople();
});

afterAll(async () => {
  await suite.close();
});

type Shown = Record<string, unknown> & {
  elapsed_share: number;
  limits: Record<string, Record<string, unknown>>;
};

async function paceOf({ browser }: Awaited<ReturnType<typeof newOwner>>): Promise<Shown> {
  const { status, text, body } = await browser.request('GET', '/usage/pace');
  if (status !== 200) throw new Error(`no pace: ${text}`);
  return body as Shown;
}

test('each enforced limit that usage adds up to has its shares and its two paces', async () => {
  const owner = await newOwner(suite);
  const { account_id } = owner;
  const started_at = secondsFromNow(-4 * DAY_SEC);
  const ended_at = secondsFromNow(6 * DAY_SEC);
  const period_id = await insertPeriod(suite.database, account_id, {
    started_at,
    ended_at,
    description: { points_limit: 1_000, time_sec_limit: 10, rate_limit: 5, traffic_bytes_limit: 0 },
  });
  const event = { account_id, payer_id: account_id, period_id, traffic_bytes: 0 };
  await countPastUsage(suite.database, [
    // 100 a day would last; what comes in now wouldn't.
    { ...event, at: new Date(Date.now() - 3 * DAY_SEC * 1_000), points: 100, time_ms: 9_999 },
    { ...event, at: new Date(), points: 230 },
  ]);
  const before = new Date();
  const shown = await paceOf(owner);
  expect(shown).toMatchObject({ account_id, payer_id: account_id, status: 'active' });
  const bounds = { started_at, end: new Date(ended_at.getTime() + 1_000) };
  expect(shown.elapsed_share).toBeGreaterThanOrEqual(elapsedShare(bounds, before));
  expect(shown.elapsed_share).toBeLessThanOrEqual(elapsedShare(bounds, new Date()));
  expect(shown.limits).toEqual({
    points_limit: {
      limit: 1_000,
      usage: 330,
      used_share: 0.33,
      reached: false,
      whole_period: { per_day: expect.any(Number), reached_at: null },
      last_24_hours: { per_day: expect.any(Number), reached_at: expect.any(String) },
    },
    time_sec_limit: expect.objectContaining({
      usage: 9,
      used_share: 0.9999,
      reached: false,
      whole_period: { per_day: 2, reached_at: expect.any(String) },
      last_24_hours: { per_day: 0, reached_at: null },
    }),
    traffic_bytes_limit: expect.objectContaining({ limit: 0, used_share: 1, reached: true }),
  });
  const { whole_period, last_24_hours } = shown.limits['points_limit'] as Record<
    string,
    { per_day: number; reached_at: string }
  >;
  expect([82, 83]).toContain(whole_period?.per_day);
  // 230 a day: 670 more take 70 hours.
  expect(last_24_hours?.per_day).toBe(230);
  const hours = (Date.parse(last_24_hours?.reached_at ?? '') - before.getTime()) / 3_600_000;
  expect(hours).toBeGreaterThan(66);
  expect(hours).toBeLessThan(71);
});

test('the first hour of a period counts, though it began before the period', async () => {
  const owner = await newOwner(suite);
  const { account_id } = owner;
  const started_at = secondsFromNow(-1);
  const period_id = await insertPeriod(suite.database, account_id, {
    started_at,
    ended_at: secondsFromNow(DAY_SEC),
    description: { points_limit: 100 },
  });
  await countPastUsage(suite.database, [
    { account_id, payer_id: account_id, period_id, at: started_at, points: 10 },
  ]);
  const { limits, forecast_from } = await paceOf(owner);
  expect(forecast_from).toBe(
    new Date(started_at.getTime() + DAY_SEC * 1_000).toISOString().replace('.000', ''),
  );
  expect(limits['points_limit']).toMatchObject({
    usage: 10,
    // What a few minutes of the period used says nothing about its end.
    last_24_hours: { per_day: 10, reached_at: null },
  });
});

test('a member sees the team’s; without limits there are none; without a period it is 404', async () => {
  const [manager, member] = [await newOwner(suite), await newOwner(suite)];
  const alone = await member.browser.request('GET', '/usage/pace');
  expect([alone.status, alone.body['code']]).toEqual([404, 'no_billing_period']);
  await insertTeam(suite.database, manager.account_id, member.account_id);
  await insertPeriod(suite.database, manager.account_id, {
    description: { rate_limit: 5 },
    plan_name: 'Free',
  });
  expect(await paceOf(member)).toMatchObject({
    account_id: member.account_id,
    payer_id: manager.account_id,
    billing_period: { plan_name: 'Free' },
    limits: {},
  });
});

test('in a grace window the period is over: nothing will be reached within it', async () => {
  const owner = await newOwner(suite);
  const { account_id } = owner;
  const period_id = await insertPeriod(suite.database, account_id, {
    started_at: secondsFromNow(-10 * DAY_SEC),
    ended_at: secondsFromNow(-60),
    description: { points_limit: 100 },
  });
  await countPastUsage(suite.database, [
    { account_id, payer_id: account_id, period_id, at: new Date(), points: 99 },
  ]);
  expect(await paceOf(owner)).toMatchObject({
    status: 'grace',
    elapsed_share: 1,
    limits: {
      points_limit: {
        used_share: 0.99,
        whole_period: { reached_at: null },
        last_24_hours: { reached_at: null },
      },
    },
  });
});
