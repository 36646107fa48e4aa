import type { BudgetUse } from '../../billing/budgets/uses.ts';

type Passed = { window: 'period' | 'day'; share: number; used: number; limit_value: number };

export type BudgetAlert = Passed & { budget_alert_id: number; created_at: Date };

/** Lowest first for each window, without rounding. A limit that is missing or 0 has no thresholds. */
export function passedShares(use: BudgetUse, shares: readonly number[]): Passed[] {
  const windows = [
    { window: 'period', used: use.points_in_period, limit: use.points_per_period },
    { window: 'day', used: use.points_today, limit: use.points_per_day },
  ] as const;
  return windows.flatMap(({ window, used, limit }) => {
    if (limit === null || limit === 0) return [];
    return shares
      .filter((share) => BigInt(used) * 100n >= BigInt(share) * BigInt(limit))
      .toSorted((one, other) => one - other)
      .map((share) => ({ window, share, used, limit_value: limit }));
  });
}
