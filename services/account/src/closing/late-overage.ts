import type { PeriodState, PeriodUse } from '../billing/credits/settlement.ts';
import type { Query } from '../platform/database/query.ts';
import type { Step } from './step-needs.ts';
import { findUnused, insertMovements } from './store.ts';
import type { Movement, Unused } from './store.ts';

/**
 * Covers what has become overuse in this step by further points that ended unused with the period: usage that is counted
 * late is charged up to the cap, as if it had been counted in time. What else the step took from the period's further
 * points is recorded by now, so that the cap's room is without it. Returns the periods as they are then.
 */
export async function takeLateOverage<Period extends PeriodState>(
  query: Query,
  step: Step,
  before: readonly Period[],
  settled: readonly Period[],
): Promise<Period[]> {
  const overuseBefore = new Map(before.map(({ period_id, overuse_points }) => [period_id, overuse_points]));
  const newOveruse = ({ period_id, overuse_points }: Period) =>
    overuse_points - (overuseBefore.get(period_id) ?? 0);
  const short = settled.filter((period) => newOveruse(period) > 0).map(({ period_id }) => period_id);
  if (short.length === 0) return [...settled];
  const unused = await findUnused(query, short, step.at);
  const changed: Period[] = [];
  for (const period of settled) {
    const own = unused.filter(({ overage_period_id }) => overage_period_id === period.period_id);
    const taken = await takeUnused(query, step, own, Math.min(newOveruse(period), own[0]?.room ?? 0));
    const carried = step.overuse === 'carry' ? taken : 0;
    changed.push({
      ...period,
      overuse_points: period.overuse_points - taken,
      carried_points: period.carried_points - carried,
    });
  }
  return changed;
}

/** Each as of the instant at which it ended: the customer had agreed to it. Returns how many points there were. */
async function takeUnused(
  query: Query,
  { account_id, reason }: Step,
  unused: readonly Unused[],
  wanted: number,
): Promise<number> {
  let taken = 0;
  for (const { movement_id, credit_id, overage_period_id, points: left, at, from_ledger } of unused) {
    const points = Math.min(wanted - taken, left);
    if (points <= 0) break;
    taken += points;
    const back = { credit_id, points, from_ledger, to_ledger: 'grant', reason };
    await insertMovements(query, account_id, at, [
      { ...back, period_id: null, corrects_movement_id: movement_id },
      ...usesOf([{ credit_id, points, period_id: overage_period_id }], reason),
    ]);
  }
  return taken;
}

export function usesOf(uses: readonly PeriodUse[], reason: Step['reason']): Movement[] {
  const used = { from_ledger: 'grant', to_ledger: 'used', reason, corrects_movement_id: null };
  return uses.map((use) => ({ ...use, ...used }));
}
