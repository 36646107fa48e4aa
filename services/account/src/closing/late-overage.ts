import type { PeriodState, PeriodUse, UsableGrant } from '../billing/credits/settlement.ts';
import type { Query } from '../platform/database/query.ts';
import type { Step } from './step-needs.ts';
import { findUnused, insertMovements } from './store.ts';
import type { Movement, Unused } from './store.ts';

/**
 * Further points that ended unused with periods which now have more overuse than before: usage that is counted late is
 * charged up to the cap, as if it had been counted in time.
 */
export async function unusedFor(
  query: Query,
  at: Date,
  before: readonly PeriodState[],
  after: readonly PeriodState[],
): Promise<Unused[]> {
  const overused = new Map(before.map(({ period_id, overuse_points }) => [period_id, overuse_points]));
  const short = after.filter(
    ({ period_id, overuse_points }) => overuse_points > (overused.get(period_id) ?? 0),
  );
  if (short.length === 0) return [];
  const found = await findUnused(
    query,
    short.map(({ period_id }) => period_id),
    at,
  );
  return withinCaps(found);
}

function withinCaps(found: readonly Unused[]): Unused[] {
  const taken = new Map<number, number>();
  return found.flatMap((one) => {
    const before = taken.get(one.overage_period_id) ?? 0;
    const points = Math.min(one.points, one.room - before);
    taken.set(one.overage_period_id, before + points);
    return points === 0 ? [] : [{ ...one, points }];
  });
}

/** By grant. */
export function sumsOf(unused: readonly Unused[]): UsableGrant[] {
  const sums = new Map<number, UsableGrant>();
  for (const { credit_id, overage_period_id, points } of unused) {
    const points_remaining = points + (sums.get(credit_id)?.points_remaining ?? 0);
    sums.set(credit_id, { credit_id, overage_period_id, points_remaining });
  }
  return [...sums.values()];
}

/** As of the instant at which they ended: the customer had agreed to them. */
export async function takeUnused(
  query: Query,
  { account_id, reason }: Step,
  use: PeriodUse,
  unused: readonly Unused[],
): Promise<void> {
  let open = use.points;
  for (const { movement_id, credit_id, points: left, at, from_ledger } of unused) {
    const points = Math.min(open, left);
    if (credit_id !== use.credit_id || points === 0) continue;
    open -= points;
    const back = { credit_id, points, from_ledger, to_ledger: 'grant', reason };
    await insertMovements(query, account_id, at, [
      { ...back, period_id: null, corrects_movement_id: movement_id },
      ...usesOf([{ ...use, points }], reason),
    ]);
  }
}

export function usesOf(uses: readonly PeriodUse[], reason: Step['reason']): Movement[] {
  const used = { from_ledger: 'grant', to_ledger: 'used', reason, corrects_movement_id: null };
  return uses.map((use) => ({ ...use, ...used }));
}
