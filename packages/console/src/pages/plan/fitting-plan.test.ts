import { expect, test } from '@jest/globals';
import { fittingPlan } from './fitting-plan.ts';

const NOW_MS = Date.parse('2026-11-28T00:00:00Z');

const others = {
  rate_limit: null,
  session_limit: null,
  subscription_limit: null,
  time_sec_limit: null,
  traffic_bytes_limit: null,
  team_slots_limit: null,
};
const plan = (plan_id: number, points_limit: number | null, year: string | null = null) => ({
  plan_id,
  prices: { month: '€1', year },
  limits: { ...others, points_limit },
});
const PLANS = [plan(3, null), plan(1, 100_000), plan(2, 1_000_000)];

const period = (started_at: string, ended_at: string, points_usage: number) => ({
  started_at: `${started_at}T00:00:00Z`,
  ended_at: `${ended_at}T23:59:59Z`,
  usage: { points_usage, requests_usage: 0, time_sec_usage: 0, traffic_bytes_usage: 0 },
});
const october = (points: number) => period('2026-10-01', '2026-10-31', points);

test.each([
  ['the smallest plan with more points', [october(99_999)], 1],
  ['the next one for a period that used all points', [october(100_000)], 2],
  ['a plan without a limit above all others', [october(1_000_000)], 3],
  ['the busiest of three periods', [october(10), period('2026-09-01', '2026-09-30', 500_000)], 2],
  ['a short period as a whole one: 14 days of 60,000', [period('2026-10-01', '2026-10-14', 60_000)], 2],
  ['the period that runs by what is over of it', [period('2026-11-14', '2026-12-13', 60_000)], 2],
  ['none for a period of less than 7 days', [period('2026-10-01', '2026-10-06', 60_000)], null],
  ['none if the running one is younger', [period('2026-11-22', '2026-12-21', 60_000)], null],
  ['none without usage', [october(0)], null],
  ['none without periods', [], null],
])('%s', (_, periods, fitting) => {
  expect(fittingPlan(PLANS, periods, 'month', NOW_MS)).toBe(fitting);
});

test('a fourth period no longer counts', () => {
  const older = ['2026-09', '2026-08', '2026-07'].map((month, index) =>
    period(`${month}-01`, `${month}-30`, index === 2 ? 500_000 : 10),
  );
  expect(fittingPlan(PLANS, [october(10), ...older], 'month', NOW_MS)).toBe(1);
  expect(fittingPlan(PLANS, older, 'month', NOW_MS)).toBe(2);
});

test('only plans that are offered for the interval, and points for as long', () => {
  const plans = [...PLANS, plan(4, 2_000_000, '€10')];
  expect(fittingPlan(plans, [october(99_999)], 'year', NOW_MS)).toBe(4);
  expect(fittingPlan(PLANS, [october(99_999)], 'year', NOW_MS)).toBeNull();
  expect(fittingPlan([plan(1, 100_000)], [october(100_000)], 'month', NOW_MS)).toBeNull();
});
