import type { LockInstant } from '../billing/credits/changes.ts';
import { payOveruse } from '../billing/credits/settlement.ts';
import type { Query } from '../platform/database/query.ts';
import { endOf, hasEnded, restOf, takeGrowth } from './settle.ts';
import {
  findCarriedOveruse,
  findNextCut,
  findPeriodsAtCut,
  findReductions,
  insertMovements,
  lockAccountIfFree,
  lockLiveGrants,
  markReduced,
  markVoid,
  recordCut,
  resolveCut,
  savePeriods,
} from './store.ts';
import type { Grant } from './store.ts';
import { giveOn, lockReceivers } from './transfers.ts';
import type { StepNeeds } from './step-needs.ts';

/**
 * Settles what an account used until its next cut with the grants that were usable until then, and ends those that end
 * there (docs/design/credits.md). False if there is no cut up to `countedUntil`, or if the account is locked, or one that
 * gets points there.
 */
export async function resolveNextCut(
  query: Query,
  account_id: number,
  countedUntil: Date,
  { lockInstant, overuse }: StepNeeds,
): Promise<boolean> {
  if (!(await lockAccountIfFree(query, account_id))) return false;
  const at = await findNextCut(query, account_id);
  if (at === undefined || at > countedUntil) return false;
  const grants = await lockLiveGrants(query, account_id);
  if (!(await lockReceivers(query, lockInstant, grants, at))) return false;
  await recordCut(query, account_id, at);
  const periods = await findPeriodsAtCut(query, account_id, at);
  const usable = grants.filter((grant) => wasUsableUntil(grant, at));
  const step = { account_id, at, reason: 'usage' as const, overuse };
  await savePeriods(query, await takeGrowth(query, step, periods, usable));
  await reduceGrants(query, account_id, at);
  await endGrants(query, account_id, at, lockInstant);
  if (overuse === 'carry') await payCarried(query, account_id, at);
  await resolveCut(query, account_id, at);
  return true;
}

/** Since the cut before: at each instant at which this changes there is one. */
function wasUsableUntil(grant: Grant, at: Date): boolean {
  const end = endOf(grant);
  return grant.usable_from < at && (end === null || end >= at);
}

/** Purchases that start at the cut first pay the overuse of before it, each at most what it has. */
async function payCarried(query: Query, account_id: number, at: Date): Promise<void> {
  const started = (await lockLiveGrants(query, account_id)).filter(
    ({ source, usable_from }) => source === 'purchase' && usable_from.getTime() === at.getTime(),
  );
  for (const { credit_id, points_remaining } of started) {
    const carried = await findCarriedOveruse(query, account_id);
    const { paid, periods } = payOveruse(carried, points_remaining);
    const movements = paid.map((part) => ({
      ...part,
      credit_id,
      from_ledger: 'grant',
      to_ledger: 'used',
      reason: 'overuse',
      corrects_movement_id: null,
    }));
    await insertMovements(query, account_id, at, movements);
    await savePeriods(query, periods);
  }
}

/** Ends the last points of grants, as far as they are unused. */
async function reduceGrants(query: Query, account_id: number, at: Date): Promise<void> {
  const left = new Map<number, number>();
  for (const { reduction_id, credit_id, ...reduction } of await findReductions(query, account_id, at)) {
    const remaining = left.get(credit_id) ?? reduction.points_remaining;
    const points = Math.min(remaining, reduction.points);
    left.set(credit_id, remaining - points);
    if (points > 0) {
      const moved = { credit_id, points, from_ledger: 'grant', to_ledger: 'voided', reason: 'reduced' };
      await insertMovements(query, account_id, at, [
        { ...moved, period_id: null, corrects_movement_id: null },
      ]);
    }
    await markReduced(query, reduction_id, points);
  }
}

/** A void that was requested later than the grant's expiry ends it, too: nothing is left by then. */
async function endGrants(
  query: Query,
  account_id: number,
  at: Date,
  lockInstant: LockInstant,
): Promise<void> {
  const ended = (await lockLiveGrants(query, account_id)).filter((grant) => hasEnded(grant, at));
  const left = ended.filter(({ points_remaining }) => points_remaining > 0);
  await insertMovements(
    query,
    account_id,
    at,
    left.map((grant) => restOf(grant, grant.points_remaining)),
  );
  for (const grant of ended) {
    const { credit_id, void_requested_at, points_remaining } = grant;
    if (void_requested_at === null || void_requested_at > at) continue;
    await markVoid(query, credit_id, points_remaining);
    await giveOn(query, lockInstant, grant, points_remaining);
  }
}
