import { inOrderOfUse } from '../billing/credits/allocation.ts';
import { settleGrowth, settleShrinkage } from '../billing/credits/settlement.ts';
import type { PeriodState } from '../billing/credits/settlement.ts';
import type { Query } from '../platform/database/query.ts';
import { takeLateOverage, usesOf } from './late-overage.ts';
import { findUses, insertMovements, lockGrants } from './store.ts';
import type { Step } from './step-needs.ts';
import type { Grant, Movement } from './store.ts';

/** Exclusive; null for a grant without an end. */
export function endOf({ expires_at, void_requested_at }: Grant): Date | null {
  if (expires_at === null || void_requested_at === null) return expires_at ?? void_requested_at;
  return expires_at < void_requested_at ? expires_at : void_requested_at;
}

/**
 * Takes what the periods used since they were settled from `usable` grants, and what these don't cover from further
 * points that ended unused with the period, up to its cap. Returns the periods that changed.
 */
export async function takeGrowth<Period extends PeriodState>(
  query: Query,
  step: Step,
  periods: readonly Period[],
  usable: readonly Grant[],
): Promise<Period[]> {
  const { account_id, at, reason, overuse } = step;
  const settled = settleGrowth(periods, inOrderOfUse(usable), overuse);
  await insertMovements(query, account_id, at, usesOf(settled.uses, reason));
  return takeLateOverage(query, step, periods, settled.periods);
}

/** Gives back what a period doesn't need any more; what comes back to a grant that has ended goes where its rest went. */
export async function giveBack<Period extends PeriodState>(
  query: Query,
  { account_id, at, reason }: Step,
  period: Period,
  endedBy: Date,
): Promise<Period> {
  const { period: shrunk, givenBack } = settleShrinkage(period, await findUses(query, period.period_id));
  const ids = givenBack.map(({ credit_id }) => credit_id);
  const grants = new Map((await lockGrants(query, account_id, ids)).map((one) => [one.credit_id, one]));
  const movements = givenBack.flatMap(({ movement_id, credit_id, points }): Movement[] => {
    const back = { credit_id, points, reason };
    const grant = grants.get(credit_id);
    const isOver = grant !== undefined && hasEnded(grant, endedBy);
    return [
      {
        ...back,
        from_ledger: 'used',
        to_ledger: 'grant',
        period_id: period.period_id,
        corrects_movement_id: movement_id,
      },
      ...(isOver ? [restOf(grant, points)] : []),
    ];
  });
  await insertMovements(query, account_id, at, movements);
  return shrunk;
}

export function hasEnded(grant: Grant, at: Date): boolean {
  const end = endOf(grant);
  return end !== null && end <= at;
}

/** Where points of a grant go that were not used until its end. */
export function restOf(
  { credit_id, expires_at, void_requested_at, void_to }: Grant,
  points: number,
): Movement {
  const isVoid = void_requested_at !== null && (expires_at === null || void_requested_at <= expires_at);
  const to_ledger = isVoid && void_to !== null ? void_to : 'expired';
  return {
    credit_id,
    points,
    from_ledger: 'grant',
    to_ledger,
    reason: to_ledger,
    period_id: null,
    corrects_movement_id: null,
  };
}
