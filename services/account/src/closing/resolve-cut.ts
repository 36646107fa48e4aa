import type { LockInstant } from '../billing/credits/changes.ts';
import type { Query } from '../platform/database/query.ts';
import { endOf, hasEnded, restOf, takeGrowth } from './settle.ts';
import {
  findNextCut,
  findPeriodsAtCut,
  insertMovements,
  lockAccountIfFree,
  lockLiveGrants,
  markVoid,
  recordCut,
  resolveCut,
  savePeriods,
} from './store.ts';
import type { Grant } from './store.ts';
import { giveOn, lockReceivers } from './transfers.ts';

/**
 * Settles what an account used until its next cut with the grants that were usable until then, and ends those that end
 * there (docs/design/credits.md). False if there is no cut up to `countedUntil`, or if the account is locked, or one that
 * gets points there.
 */
export async function resolveNextCut(
  query: Query,
  account_id: number,
  countedUntil: Date,
  lockInstant: LockInstant,
): Promise<boolean> {
  if (!(await lockAccountIfFree(query, account_id))) return false;
  const at = await findNextCut(query, account_id);
  if (at === undefined || at > countedUntil) return false;
  const grants = await lockLiveGrants(query, account_id);
  if (!(await lockReceivers(query, lockInstant, grants, at))) return false;
  await recordCut(query, account_id, at);
  const periods = await findPeriodsAtCut(query, account_id, at);
  const usable = grants.filter((grant) => wasUsableUntil(grant, at));
  await savePeriods(query, await takeGrowth(query, { account_id, at, reason: 'usage' }, periods, usable));
  await endGrants(query, account_id, at, lockInstant);
  await resolveCut(query, account_id, at);
  return true;
}

/** Since the cut before: at each instant at which this changes there is one. */
function wasUsableUntil(grant: Grant, at: Date): boolean {
  const end = endOf(grant);
  return grant.usable_from < at && (end === null || end >= at);
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
