import type { Query } from '../../platform/database/query.ts';
import type { Reversed } from './target.ts';

export type Reversal = {
  purchase_id: number;
  account_id: number;
  target_points: number;
  returns_as: 'purchase' | 'compensation';
  /** How often its payment was read and stored. */
  version: number;
};

/** What the provider says now. The points follow by steps. */
export async function saveReversed(
  query: Query,
  purchase: { purchase_id: number; account_id: number },
  reversed: Reversed & { target: number; frozen: number },
): Promise<void> {
  await query(
    `INSERT INTO purchase_reversals AS kept (purchase_id, account_id, paid_amount, refunded_amount, pending_amount,
       lost_amount, is_disputed, target_points, frozen_points, next_step_at)
     VALUES (:purchase_id, :account_id, :paid, :refunded, :pending, :lost, :isDisputed, :target, :frozen, now())
     ON CONFLICT (purchase_id) DO UPDATE SET paid_amount = :paid, refunded_amount = :refunded,
       pending_amount = :pending, lost_amount = :lost, is_disputed = :isDisputed, target_points = :target,
       frozen_points = :frozen, next_step_at = now(), version = kept.version + 1, updated_at = now(),
       returns_as = CASE
         WHEN :refunded < kept.refunded_amount THEN 'compensation'
         WHEN :refunded > kept.refunded_amount OR CAST(:isDisputed AS boolean) <> kept.is_disputed THEN 'purchase'
         ELSE kept.returns_as END`,
    { ...purchase, ...reversed },
  );
}

export async function findReversal(query: Query, purchaseId: number): Promise<Reversal | undefined> {
  const rows = await query<Reversal>(
    `SELECT purchase_id, account_id, target_points, returns_as, version FROM purchase_reversals
     WHERE purchase_id = :purchaseId`,
    { purchaseId },
  );
  return rows[0];
}

/** `isDone`: the points are as they shall be. */
export async function saveStep(
  query: Query,
  purchaseId: number,
  step: { taken: number; shortfall: number; isDone: boolean },
): Promise<void> {
  await query(
    `UPDATE purchase_reversals SET taken_points = :taken, shortfall_points = :shortfall,
       next_step_at = CASE WHEN CAST(:isDone AS boolean) THEN NULL ELSE now() END
     WHERE purchase_id = :purchaseId`,
    { purchaseId, ...step },
  );
}

export async function postponeStep(query: Query, purchaseId: number, seconds: number): Promise<void> {
  await query(
    `UPDATE purchase_reversals SET next_step_at = now() + CAST(:seconds AS integer) * interval '1 second'
     WHERE purchase_id = :purchaseId AND next_step_at IS NOT NULL`,
    { purchaseId, seconds },
  );
}

/** Those whose last void is settled, so that there is something to do. */
export const DUE_STEPS = `SELECT purchase_id FROM purchase_reversals
  WHERE next_step_at <= statement_timestamp() AND NOT EXISTS (
    SELECT FROM credit_grants WHERE credit_grants.purchase_id = purchase_reversals.purchase_id
      AND void_requested_at IS NOT NULL AND voided_at IS NULL)`;

export async function findDueSteps(query: Query, limit: number): Promise<number[]> {
  const rows = await query<{ purchase_id: number }>(`${DUE_STEPS} ORDER BY next_step_at LIMIT :limit`, {
    limit,
  });
  return rows.map(({ purchase_id }) => purchase_id);
}

export type PurchaseGrant = {
  credit_id: number;
  points_remaining: number;
  priority: number;
  expires_at: Date | null;
  is_voiding: boolean;
  is_usable: boolean;
  /** What voids moved to refunds, less corrections. */
  refunded_points: number;
  points: number;
};

/** All grants of a purchase, the first one first. Those of another account (a transfer) are not its any more. */
export function listGrants(
  query: Query,
  { purchase_id, account_id }: { purchase_id: number; account_id: number },
): Promise<PurchaseGrant[]> {
  return query<PurchaseGrant>(
    `SELECT credit_id, points_remaining, priority, expires_at,
       -- Points that an operator has transferred back were not given back by a reversal.
       CASE WHEN reporter = 'payments' THEN points ELSE 0 END AS points,
       void_requested_at IS NOT NULL AND voided_at IS NULL AS is_voiding,
       void_requested_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()) AS is_usable,
       CAST(coalesce((
         SELECT sum(CASE WHEN to_ledger = 'refunded' THEN moved.points ELSE -moved.points END)
         FROM credit_movements AS moved
         WHERE moved.credit_id = credit_grants.credit_id AND 'refunded' IN (from_ledger, to_ledger)
       ), 0) AS bigint) AS refunded_points
     FROM credit_grants WHERE purchase_id = :purchase_id AND account_id = :account_id ORDER BY credit_id`,
    { purchase_id, account_id },
  );
}

/**
 * Payments whose money can still change without our hearing of it: a refund of a purchase is pending, or a dispute open.
 */
export async function listPendingPayments(query: Query): Promise<string[]> {
  const rows = await query<{ payment_id: string }>(
    `SELECT payment_id FROM purchase_reversals JOIN purchases USING (purchase_id)
     WHERE pending_amount > 0 OR is_disputed
     UNION
     SELECT details ->> 'payment_id' FROM payment_blocks JOIN payment_issues ON object_id = dispute_id
     WHERE kind = 'dispute' AND details ->> 'state' = 'open' ORDER BY payment_id`,
  );
  return rows.map(({ payment_id }) => payment_id);
}

export async function setRefunded(query: Query, purchaseId: number, isRefunded: boolean): Promise<void> {
  await query(
    `UPDATE purchases SET state = CASE WHEN CAST(:isRefunded AS boolean) THEN 'refunded' ELSE 'paid' END
     WHERE purchase_id = :purchaseId`,
    { purchaseId, isRefunded },
  );
}
