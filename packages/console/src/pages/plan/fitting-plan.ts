import type { BillingPeriod } from '../../api/usage.ts';
import type { Interval, Plan } from './queries.ts';

const DAY_MS = 86_400_000;

/** A younger period says too little. */
const LEAST_MS = 7 * DAY_MS;

const PERIODS = 3;

/** The longest month and year, so that a whole period never counts as less than it used. */
const INTERVAL_MS: Record<Interval, number> = { month: 31 * DAY_MS, year: 366 * DAY_MS };

type OfferedPlan = Pick<Plan, 'plan_id' | 'prices' | 'limits'>;
type UsedPeriod = Pick<BillingPeriod, 'started_at' | 'ended_at' | 'usage'>;

/**
 * The plan with the fewest points that are more than any of the last three periods would have used in a whole
 * interval (docs/design/console.md). Null if usage says nothing yet, or if no plan has as many.
 * @param periods newest first, only those that have started
 */
export function fittingPlan(
  plans: readonly OfferedPlan[],
  periods: readonly UsedPeriod[],
  interval: Interval,
  nowMs: number,
): number | null {
  const needed = periods
    .map(({ started_at, ended_at, usage }) => ({
      points: usage.points_usage,
      // `ended_at` is the last second.
      lastedMs: Math.min(Date.parse(ended_at) + 1_000, nowMs) - Date.parse(started_at),
    }))
    .filter(({ lastedMs }) => lastedMs >= LEAST_MS)
    .slice(0, PERIODS)
    .map(({ points, lastedMs }) => (points * INTERVAL_MS[interval]) / lastedMs);
  const most = Math.max(0, ...needed);
  if (most === 0) return null;
  const pointsOf = ({ limits }: OfferedPlan) => limits.points_limit ?? Infinity;
  const [fitting] = plans
    // Who used all points of a period may have needed more.
    .filter((plan) => plan.prices[interval] !== null && pointsOf(plan) > most)
    .toSorted((one, other) =>
      pointsOf(one) < pointsOf(other) ? -1 : Number(pointsOf(one) > pointsOf(other)),
    );
  return fitting?.plan_id ?? null;
}
