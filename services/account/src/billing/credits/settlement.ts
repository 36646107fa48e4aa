import { afterTaking, allocate } from './allocation.ts';
import type { Taken } from './allocation.ts';

/** CREDITS_OVERUSE: what becomes of usage that no grant covers. */
export const OVERUSE_MODES = ['forgive', 'carry'] as const;

export type OveruseMode = (typeof OVERUSE_MODES)[number];

/** A period's points, and how far those above the included ones are settled. */
export type PeriodState = {
  period_id: number;
  /** Null for a plan that doesn't limit points: its use takes no credits. */
  included: number | null;
  points: number;
  settled_points: number;
  /** Those of the settled points that no grant covered. */
  overuse_points: number;
  /** The part of those that the next purchase pays. */
  carried_points: number;
};

/** A grant's points, as far as use before the settlement may take them. */
type UsableGrant = {
  credit_id: number;
  points_remaining: number;
  /** Of further points: the only period whose use may take them; null or missing for any. */
  overage_period_id?: number | null;
};

export type PeriodUse = Taken & { period_id: number };

export type Settled<Period extends PeriodState> = {
  uses: PeriodUse[];
  /** Only those that changed. */
  periods: Period[];
};

/** How much of a period's points the plan doesn't include. */
export function demandOf({ included, points }: Pick<PeriodState, 'included' | 'points'>): number {
  return included === null ? 0 : Math.max(0, points - included);
}

/**
 * Takes what the periods used since they were settled from grants that were usable all that time, in the order given.
 * What they can't cover is overuse, which no later grant pays for, unless it is carried to the next purchase.
 */
export function settleGrowth<Period extends PeriodState>(
  periods: readonly Period[],
  usable: readonly UsableGrant[],
  mode: OveruseMode = 'forgive',
): Settled<Period> {
  let left = usable;
  const uses: Settled<Period>['uses'] = [];
  const changed = periods.flatMap((period) => {
    const growth = demandOf(period) - period.settled_points;
    if (growth <= 0) return [];
    const own = left.filter(
      ({ overage_period_id: only = null }) => only === null || only === period.period_id,
    );
    const { taken, overuse } = allocate(growth, own);
    left = afterTaking(left, taken);
    uses.push(...taken.map((use) => ({ ...use, period_id: period.period_id })));
    const settled_points = period.settled_points + growth;
    const overuse_points = period.overuse_points + overuse;
    const carried_points = period.carried_points + (mode === 'carry' ? overuse : 0);
    return [{ ...period, settled_points, overuse_points, carried_points }];
  });
  return { uses, periods: changed };
}

/** What a movement took for a period, less what was given back since. */
export type Use = { movement_id: number; credit_id: number; points: number };

export type Shrunk<Period extends PeriodState> = { period: Period; givenBack: Use[] };

/**
 * Gives back what a period has settled and, after a correction of its usage, doesn't need: first overuse, then what was
 * taken from grants, the last use first. `uses` are the period's, oldest first.
 */
export function settleShrinkage<Period extends PeriodState>(
  period: Period,
  uses: readonly Use[],
): Shrunk<Period> {
  const shrinkage = Math.max(0, period.settled_points - demandOf(period));
  const forgotten = Math.min(shrinkage, period.overuse_points);
  const overuse_points = period.overuse_points - forgotten;
  let open = shrinkage - forgotten;
  const givenBack: Use[] = [];
  for (const use of uses.toReversed()) {
    const points = Math.min(open, use.points);
    if (points === 0) continue;
    givenBack.push({ ...use, points });
    open -= points;
  }
  return {
    period: {
      ...period,
      settled_points: period.settled_points - shrinkage,
      overuse_points,
      carried_points: Math.min(period.carried_points, overuse_points),
    },
    givenBack,
  };
}

/** What a purchase pays of the overuse that periods carry, oldest first, and what remains of it. */
export function payOveruse<
  Period extends Pick<PeriodState, 'period_id' | 'overuse_points' | 'carried_points'>,
>(
  periods: readonly Period[],
  points: number,
): { paid: { period_id: number; points: number }[]; periods: Period[] } {
  let left = points;
  const paid: { period_id: number; points: number }[] = [];
  const changed = periods.flatMap((period) => {
    const part = Math.min(left, period.carried_points);
    if (part === 0) return [];
    left -= part;
    paid.push({ period_id: period.period_id, points: part });
    const { overuse_points, carried_points } = period;
    return [{ ...period, overuse_points: overuse_points - part, carried_points: carried_points - part }];
  });
  return { paid, periods: changed };
}
