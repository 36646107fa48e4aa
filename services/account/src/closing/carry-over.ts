import type { LockInstant } from '../billing/credits/changes.ts';
import { lockHolder } from '../billing/credits/store.ts';
import type { Query } from '../platform/database/query.ts';
import { grantAtClosing } from './grant.ts';
import { findCarrying, insertMovements, lockAccountIfFree, findCarried, takeCarryOver } from './store.ts';
import type { Carrying } from './store.ts';

/** Before bought points, and before what is given without a priority. */
const PRIORITY = 10;

/** How many of a closed period's included points the next one gets. */
export function carriedPoints({ included, points, rollover_max }: Carrying): number {
  return included === null ? 0 : Math.min(Math.max(0, included - points), rollover_max);
}

/**
 * Grants what a closed period leaves for the next one, if its plan says so, and corrects that after late usage: what is
 * too much is taken back as far as it is left. A transaction of its own, since a grant locks the stream's position before
 * the totals that a closing has locked. False if the account is locked, or if another replica has done it.
 */
export async function carryOver(
  query: Query,
  { account_id, period_id }: { account_id: number; period_id: number },
  lockInstant: LockInstant,
): Promise<boolean> {
  if (!(await lockAccountIfFree(query, account_id))) return false;
  if (!(await takeCarryOver(query, period_id))) return false;
  const carrying = await findCarrying(query, period_id);
  if (carrying === undefined || !(await lockHolder(query, account_id))) return true;
  const key = `carry-over:${String(period_id)}`;
  const before = await findCarried(query, account_id, key);
  const carried = before.reduce((sum, grant) => sum + grant.points - grant.taken_back, 0);
  const wanted = carriedPoints(carrying);
  if (wanted > carried) await grantMore(wanted - carried);
  else if (wanted < carried) await takeBack(carried - wanted);
  return true;

  async function grantMore(points: number): Promise<void> {
    const { expires_at } = carrying as Carrying;
    if (expires_at <= new Date(await lockInstant(query, account_id))) return;
    const terms = { source: 'carry_over' as const, priority: PRIORITY, effective_at: null, expires_at };
    const idempotency_key = before.length === 0 ? key : `${key}:${String(before.length + 1)}`;
    const wanted = { account_id, points, note: null, purchase_id: null, ...terms };
    await grantAtClosing(query, lockInstant, wanted, idempotency_key);
  }

  async function takeBack(excess: number): Promise<void> {
    let open = excess;
    const movements = before.flatMap(({ credit_id, points_remaining }) => {
      const points = Math.min(open, points_remaining);
      open -= points;
      if (points === 0) return [];
      const from = { credit_id, points, from_ledger: 'grant', to_ledger: 'voided' };
      return [{ ...from, reason: 'carry_over_corrected', period_id: null, corrects_movement_id: null }];
    });
    await insertMovements(query, account_id, new Date(await lockInstant(query, account_id)), movements);
  }
}
