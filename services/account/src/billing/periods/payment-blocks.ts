import type { Query } from '../../platform/database/query.ts';

/**
 * SQL of one row: what an account's due payments mean at an instant (docs/design/payments.md). `blocked`; `unpaid`, which
 * is reported as `grace`; `payable`, if a payment lifts the block; and `changes_at`, when that changes by time alone.
 */
export function duePayments(accountId: string, now: string): string {
  return `
    SELECT bool_or(blocks_at <= ${now}) AS blocked, bool_or(grace_at <= ${now}) AS unpaid,
      bool_or(blocks_at <= ${now}) FILTER (WHERE reason = 'renewal') AS payable,
      min(CASE WHEN grace_at > ${now} THEN grace_at WHEN blocks_at > ${now} THEN blocks_at END) AS changes_at
    FROM payment_blocks WHERE payment_blocks.account_id = ${accountId}`;
}

/** For a renewal: until it is paid, or fails. A bank decides on a debit later. */
const UNTIL_GRACE_SEC = 86_400;
const UNTIL_GRACE_OF_DEBIT_SEC = 3 * 86_400;

/** The period that a renewal has opened is to be paid, unless its invoice already is. Times count from its start. */
export async function addRenewalDue(
  query: Query,
  period: { period_id: number; account_id: number },
  paymentGraceSec: number,
): Promise<void> {
  await query(
    `INSERT INTO payment_blocks (account_id, reason, period_id, grace_at, blocks_at)
     SELECT account_id, 'renewal', period_id,
       started_at + least(CAST(:paymentGraceSec AS integer), ${String(UNTIL_GRACE_SEC)}) * interval '1 second',
       started_at + CAST(:paymentGraceSec AS integer) * interval '1 second'
     FROM billing_periods WHERE period_id = :period_id
       AND EXISTS (SELECT FROM stripe_subscriptions
         WHERE stripe_subscriptions.subscription_id = billing_periods.subscription_id)
       AND NOT EXISTS (SELECT FROM stripe_subscriptions
         WHERE stripe_subscriptions.subscription_id = billing_periods.subscription_id
           AND paid_until >= ended_at + interval '1 second')
       AND NOT EXISTS (SELECT FROM invoices
         WHERE invoices.subscription_id = billing_periods.subscription_id AND state IN ('paid', 'void')
           AND billing_reason <> 'subscription_update'
           AND period_end > started_at AND period_end <= ended_at + interval '1 second')`,
    { period_id: period.period_id, paymentGraceSec },
  );
}

/**
 * The invoice of a change that has taken effect has failed: the present period is to be paid, from the invoice on. False
 * if it is to be paid already.
 */
export async function addChangeDue(
  query: Query,
  invoice: { subscription_id: number; stripe_invoice_id: string; issued_at: Date },
  paymentGraceSec: number,
): Promise<boolean> {
  const rows = await query(
    `INSERT INTO payment_blocks (account_id, reason, period_id, stripe_invoice_id, grace_at, blocks_at)
     SELECT account_id, 'renewal', period_id, :stripe_invoice_id, least(now(), until), until
     FROM billing_periods, (SELECT CAST(:issued_at AS timestamptz)
       + CAST(:paymentGraceSec AS integer) * interval '1 second' AS until) AS times
     WHERE subscription_id = :subscription_id AND started_at <= now()
     ORDER BY started_at DESC LIMIT 1
     ON CONFLICT DO NOTHING RETURNING payment_block_id`,
    { ...invoice, paymentGraceSec },
  );
  return rows.length > 0;
}

export async function settleChange(query: Query, stripeInvoiceId: string): Promise<void> {
  await query('DELETE FROM payment_blocks WHERE stripe_invoice_id = :stripeInvoiceId', { stripeInvoiceId });
}

/** A payment has failed: the time to pay it has begun. False if nothing is due for the period. */
export async function beginGrace(query: Query, periodId: number): Promise<boolean> {
  const rows = await query(
    `UPDATE payment_blocks SET grace_at = least(grace_at, blocks_at, clock_timestamp())
     WHERE period_id = :periodId RETURNING payment_block_id`,
    { periodId },
  );
  return rows.length > 0;
}

/** A debit is under way: there are three days for its final word, which also end a grace that time alone has begun. */
export async function awaitDebit(query: Query, periodId: number): Promise<void> {
  await query(
    `UPDATE payment_blocks SET grace_at = least(blocks_at, until.at)
     FROM (SELECT period_id, started_at + ${String(UNTIL_GRACE_OF_DEBIT_SEC)} * interval '1 second' AS at
       FROM billing_periods WHERE period_id = :periodId) AS until
     WHERE payment_blocks.period_id = until.period_id AND grace_at < least(blocks_at, until.at)`,
    { periodId },
  );
}

/** What is due for a period is due for the one in its place. */
export async function moveDue(query: Query, from: number, to: number): Promise<void> {
  await query('UPDATE payment_blocks SET period_id = :to WHERE period_id = :from', { from, to });
}

export async function settlePeriod(query: Query, periodId: number): Promise<void> {
  await query('DELETE FROM payment_blocks WHERE period_id = :periodId', { periodId });
}

/** At once. Time that an operator has given stays. */
export async function blockForDispute(
  query: Query,
  dispute: { account_id: number; dispute_id: string },
): Promise<void> {
  await query(
    `INSERT INTO payment_blocks (account_id, reason, dispute_id, grace_at, blocks_at)
     VALUES (:account_id, 'dispute', :dispute_id, date_trunc('second', now()), date_trunc('second', now()))
     ON CONFLICT (dispute_id) DO NOTHING`,
    dispute,
  );
}

export async function settleDispute(query: Query, disputeId: string): Promise<void> {
  await query('DELETE FROM payment_blocks WHERE dispute_id = :disputeId', { disputeId });
}

/** The renewal of an account that blocks first: a dispute can't be paid. */
export async function findDue(
  query: Query,
  accountId: number,
): Promise<{ grace_at: Date; blocks_at: Date } | undefined> {
  const rows = await query<{ grace_at: Date; blocks_at: Date }>(
    `SELECT grace_at, blocks_at FROM payment_blocks
     WHERE account_id = :accountId AND reason = 'renewal' AND grace_at <= clock_timestamp()
     ORDER BY blocks_at LIMIT 1`,
    { accountId },
  );
  return rows[0];
}

export type PaymentBlock = {
  reason: 'renewal' | 'dispute';
  /** The period that is to be paid. */
  period_id: number | null;
  /** At Stripe. */
  dispute_id: string | null;
  since: Date;
  grace_at: Date;
  blocks_at: Date;
};

/** What an account has to pay, or is disputed, the first to block first. */
export function listPaymentBlocks(query: Query, accountId: number): Promise<PaymentBlock[]> {
  return query<PaymentBlock>(
    `SELECT reason, period_id, dispute_id, created_at AS since, grace_at, blocks_at
     FROM payment_blocks WHERE account_id = :accountId ORDER BY blocks_at, payment_block_id`,
    { accountId },
  );
}

/** An operator gives more time; never less. Empty if nothing is due. */
export async function postponeBlocks(query: Query, accountId: number, until: Date): Promise<Postponed[]> {
  return query<Postponed>(
    `UPDATE payment_blocks AS changed SET blocks_at = greatest(changed.blocks_at, CAST(:until AS timestamptz))
     FROM (SELECT payment_block_id, blocks_at FROM payment_blocks WHERE account_id = :accountId FOR UPDATE) AS kept
     WHERE changed.payment_block_id = kept.payment_block_id
     RETURNING changed.payment_block_id, kept.blocks_at AS blocked_before, changed.blocks_at`,
    { accountId, until },
  );
}

/** When calls are refused, and when that would have been. */
export type Postponed = { payment_block_id: number; blocked_before: Date; blocks_at: Date };
