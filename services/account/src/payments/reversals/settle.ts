import { Problem } from '@tollgate/http/problem';
import { grantCredits, voidCredit } from '../../billing/credits/changes.ts';
import type { LockInstant } from '../../billing/credits/changes.ts';
import { lockHolder } from '../../billing/credits/store.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { PAYMENTS_ACTOR } from '../actor.ts';
import { reportIssue, settleIssue } from '../issues/store.ts';
import type { Purchase } from '../purchases/store.ts';
import { findReversal, listGrants, saveStep } from './store.ts';
import type { PurchaseGrant } from './store.ts';
import { nextStep } from './target.ts';

type Reversible = Pick<Purchase, 'purchase_id' | 'account_id' | 'payment_id'>;

/**
 * Takes as many points of a purchase as its reversal says, or gives them back, as far as it goes now: how much a void took
 * is known once usage before it is settled. `query` is a transaction's; the account is locked first.
 */
export async function settleReversal(
  query: Query,
  lockInstant: LockInstant,
  purchase: Reversible,
): Promise<void> {
  const { purchase_id, account_id } = purchase;
  await lockAccount(query, account_id);
  const reversal = await findReversal(query, purchase_id);
  if (reversal === undefined) return;
  const target = reversal.target_points;
  for (;;) {
    const grants = await listGrants(query, purchase);
    const taken = takenOf(grants);
    const step = nextStep({
      target,
      taken,
      holdings: grants.map((grant) => ({
        credit_id: grant.credit_id,
        points_remaining: grant.points_remaining,
        isVoiding: grant.is_voiding,
        isUsable: grant.is_usable,
      })),
    });
    if (step.kind === 'void' && (await voidAll(query, lockInstant, step.credit_ids))) continue;
    if (step.kind === 'wait') return saveStep(query, purchase_id, { taken, shortfall: 0, isDone: false });
    const isReturned =
      step.kind === 'return' &&
      (await giveBack(query, lockInstant, purchase, {
        grants,
        points: step.points,
        source: reversal.returns_as,
      }));
    if (isReturned) continue;
    const shortfall = Math.max(0, target - taken);
    await saveStep(query, purchase_id, { taken, shortfall, isDone: true });
    return reportShortfall(query, purchase, shortfall);
  }
}

/** What voids took, less what was granted again. */
function takenOf([first, ...returned]: readonly PurchaseGrant[]): number {
  const all = first === undefined ? [] : [first, ...returned];
  const refunded = all.reduce((sum, { refunded_points }) => sum + refunded_points, 0);
  return Math.max(
    0,
    returned.reduce((sum, { points }) => sum - points, refunded),
  );
}

/** False if none of them can be voided any more, since they have just expired. */
async function voidAll(
  query: Query,
  lockInstant: LockInstant,
  creditIds: readonly number[],
): Promise<boolean> {
  let isVoiding = false;
  for (const creditId of creditIds) {
    const { void_requested_at } = await voidCredit(query, lockInstant, creditId, 'refunded', PAYMENTS_ACTOR);
    isVoiding ||= void_requested_at !== null;
  }
  return isVoiding;
}

/**
 * By a grant of the same terms. False if nothing can be given back: the terms or the account have ended, or the account
 * would have too many points, which an operator sees.
 */
async function giveBack(
  query: Query,
  lockInstant: LockInstant,
  { purchase_id, account_id, payment_id }: Reversible,
  {
    grants,
    points,
    source,
  }: { grants: readonly PurchaseGrant[]; points: number; source: 'purchase' | 'compensation' },
): Promise<boolean> {
  const [first] = grants;
  if (first === undefined || !(await lockHolder(query, account_id))) return false;
  const { expires_at, priority } = first;
  if (expires_at !== null && expires_at <= (await databaseNow(query))) return false;
  const terms = { source, priority, effective_at: null, expires_at, note: null, purchase_id };
  const key = { reporter: 'payments', idempotency_key: `${String(payment_id)}:${String(grants.length)}` };
  try {
    await grantCredits(query, lockInstant, { account_id, points, ...terms }, key, PAYMENTS_ACTOR);
    return true;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'total_too_large') throw error;
    const object_id = payment_id ?? String(purchase_id);
    const details = { purchase_id, points };
    await reportIssue(query, { kind: 'points_not_granted', object_id, account_id, details });
    return false;
  }
}

async function reportShortfall(query: Query, purchase: Reversible, shortfall: number): Promise<void> {
  const { purchase_id, account_id, payment_id } = purchase;
  const issue = { kind: 'refund_shortfall', object_id: payment_id ?? String(purchase_id) } as const;
  if (shortfall === 0) return settleIssue(query, issue);
  await reportIssue(query, {
    ...issue,
    account_id,
    details: { purchase_id, shortfall_points: shortfall },
  });
}
