import type { Credit } from '../../billing/credits/credit.ts';
import type { OveragePrice } from '../../billing/periods/limits.ts';
import type { Query } from '../../platform/database/query.ts';
import { msFromNow } from '../../platform/outbox/leased-rows.ts';
import { takeAsked } from '../account-checks.ts';
import type { Page } from '../../http/input/page.ts';

/** What a customer has agreed to. `price` is null before the first agreement. */
export type OverageSettings = { cap_points: number; price: OveragePrice | null };

export async function findSettings(query: Query, accountId: number): Promise<OverageSettings> {
  const rows = await query<{ cap_points: number } & Partial<OveragePrice>>(
    'SELECT cap_points, price_per_1000, currency FROM overage_settings WHERE account_id = :accountId',
    { accountId },
  );
  const [{ cap_points, price_per_1000, currency } = { cap_points: 0 }] = rows;
  const price = price_per_1000 && currency ? { price_per_1000, currency } : null;
  return { cap_points, price };
}

/** Without a price, the one that was agreed to before stays. The account is locked. */
export async function saveSettings(
  query: Query,
  accountId: number,
  { cap_points, price }: OverageSettings,
): Promise<void> {
  await query(
    `INSERT INTO overage_settings AS kept (account_id, cap_points, price_per_1000, currency)
     VALUES (:accountId, :cap_points, :price_per_1000, :currency)
     ON CONFLICT (account_id) DO UPDATE SET cap_points = excluded.cap_points, changed_at = now(),
       price_per_1000 = coalesce(excluded.price_per_1000, kept.price_per_1000),
       currency = coalesce(excluded.currency, kept.currency)`,
    {
      accountId,
      cap_points,
      price_per_1000: price?.price_per_1000 ?? null,
      currency: price?.currency ?? null,
    },
  );
}

/** A period that covers the present or is to come. `ends_at` is exclusive. */
export type OpenPeriod = {
  period_id: number;
  description: Record<string, unknown>;
  started_at: Date;
  ends_at: Date;
  /** Of the further points that it has had; null without any. */
  price_per_1000: number | null;
  currency: string | null;
  /** What Stripe charges the account's plan in; null if it charges none. */
  plan_currency: string | null;
  /** Whether an invoice for further points isn't paid. */
  is_unpaid: boolean;
};

export function listOpenPeriods(query: Query, accountId: number): Promise<OpenPeriod[]> {
  return query<OpenPeriod>(
    `SELECT period.period_id, description, started_at, ended_at + interval '1 second' AS ends_at,
       price_per_1000, currency, (
         SELECT paid.currency FROM stripe_subscriptions AS paid JOIN subscriptions USING (subscription_id)
         WHERE paid.account_id = period.account_id AND state = 'started' AND subscriptions.ended_at IS NULL
         ORDER BY checkout_id DESC LIMIT 1) AS plan_currency,
       EXISTS (SELECT ${OWN_INVOICES} AND account_id = :accountId AND ${IS_UNPAID}) AS is_unpaid
     FROM billing_periods AS period LEFT JOIN period_overages USING (period_id)
     WHERE period.account_id = :accountId AND ended_at + interval '1 second' > clock_timestamp()
     ORDER BY started_at`,
    { accountId },
  );
}

/** Further points of a period that haven't expired. */
export type OverageGrant = Pick<Credit, 'credit_id' | 'account_id' | 'source'> & {
  period_id: number;
  points: number;
  /** By the last settlement. */
  points_remaining: number;
  points_voided: number;
  /** Of the remaining ones, those that can't be used any more once usage is settled. */
  points_ending: number;
  is_voiding: boolean;
  is_void: boolean;
  expires_at: Date;
};

export function listOverageGrants(query: Query, accountId: number): Promise<OverageGrant[]> {
  return query<OverageGrant>(
    `SELECT credit_id, account_id, source, period_id, points, points_remaining,
       (SELECT CAST(coalesce(sum(CASE WHEN from_ledger = 'grant' THEN moved.points ELSE -moved.points END), 0) AS bigint)
         FROM credit_movements AS moved WHERE moved.credit_id = credit_grants.credit_id
           AND from_ledger NOT IN ('issued', 'used') AND to_ledger <> 'used') AS points_voided,
       CASE WHEN void_requested_at IS NOT NULL THEN points_remaining
         ELSE credit_points_ending(credit_grants) END AS points_ending,
       void_requested_at IS NOT NULL AND voided_at IS NULL AS is_voiding, voided_at IS NOT NULL AS is_void, expires_at
     FROM credit_grants JOIN overage_grants USING (credit_id)
     WHERE account_id = :accountId AND source = 'overage' AND expires_at > clock_timestamp()
     ORDER BY credit_id`,
    { accountId },
  );
}

/** The first price of a period holds for all of it. */
export async function addPeriod(
  query: Query,
  period: OveragePrice & { period_id: number; account_id: number; cap_points: number },
): Promise<void> {
  await query(
    `INSERT INTO period_overages (period_id, account_id, price_per_1000, currency, cap_points)
     VALUES (:period_id, :account_id, :price_per_1000, :currency, :cap_points) ON CONFLICT (period_id) DO NOTHING`,
    period,
  );
}

/** Up to so many, usage of the period is charged, also what is counted once it has ended. */
export async function setPeriodCap(query: Query, periodId: number, cap_points: number): Promise<void> {
  await query(
    `UPDATE period_overages SET cap_points = :cap_points
     WHERE period_id = :periodId AND cap_points IS DISTINCT FROM :cap_points`,
    { periodId, cap_points },
  );
}

export async function addGrant(query: Query, credit_id: number, period_id: number): Promise<void> {
  await query('INSERT INTO overage_grants (credit_id, period_id) VALUES (:credit_id, :period_id)', {
    credit_id,
    period_id,
  });
}

/** What a closed period has used of its further points, and what was charged for. */
type Uncharged = OveragePrice & {
  period_id: number;
  used: number;
  charges: number;
  charged_points: number;
  charged_amount: number;
};

/** Closed periods of which another number of points is charged than used. */
export function listUncharged(query: Query, accountId: number): Promise<Uncharged[]> {
  return query<Uncharged>(
    `SELECT overage.period_id, price_per_1000, currency, used, charges, charged_points, charged_amount
     FROM period_overages AS overage JOIN period_credits USING (period_id)
     CROSS JOIN LATERAL (
       SELECT CAST(coalesce(sum(CASE WHEN to_ledger = 'used' THEN moved.points ELSE -moved.points END), 0) AS bigint) AS used
       FROM overage_grants JOIN credit_movements AS moved USING (credit_id)
       WHERE overage_grants.period_id = overage.period_id AND 'used' IN (from_ledger, to_ledger)
     ) AS moved
     CROSS JOIN LATERAL (
       SELECT count(*) AS charges, CAST(coalesce(sum(points), 0) AS bigint) AS charged_points,
         CAST(coalesce(sum(amount), 0) AS bigint) AS charged_amount
       FROM overage_charges WHERE overage_charges.period_id = overage.period_id
     ) AS charged
     WHERE overage.account_id = :accountId AND closed_at IS NOT NULL AND used <> charged_points`,
    { accountId },
  );
}

export type OverageCharge = {
  charge_id: number;
  charge_key: string;
  account_id: number;
  period_id: number;
  /** Below 0 for a correction. */
  points: number;
  /** In Stripe's minor unit, without tax. */
  amount: number;
  stripe_item_id: string | null;
  attempts: number;
  created_at: Date;
};

const CHARGE = `charge_id, charge_key, account_id, period_id, points, amount, stripe_item_id, attempts, created_at`;

export async function insertCharge(
  query: Query,
  made: Pick<OverageCharge, 'charge_key' | 'account_id' | 'period_id' | 'points' | 'amount'>,
): Promise<void> {
  await query(
    `INSERT INTO overage_charges (charge_key, account_id, period_id, points, amount)
     VALUES (:charge_key, :account_id, :period_id, :points, :amount)`,
    made,
  );
}

/**
 * Nothing is charged after a restore of Postgres until payments are reconciled: what was charged since is forgotten. An
 * account's charges come one after the other, as an invoice of its own takes all items that wait.
 */
const CHARGEABLE = `next_attempt_at <= clock_timestamp() AND NOT EXISTS (SELECT FROM payment_restores)
  AND NOT EXISTS (SELECT FROM overage_charges AS earlier WHERE earlier.account_id = overage_charges.account_id
    AND earlier.charge_id < overage_charges.charge_id AND earlier.next_attempt_at IS NOT NULL)`;

export const CHARGE_DUE = `EXISTS (SELECT FROM overage_charges WHERE ${CHARGEABLE})`;

export function claimCharges(
  query: Query,
  { limit, leaseMs, except }: { limit: number; leaseMs: number; except: readonly number[] },
): Promise<OverageCharge[]> {
  return query<OverageCharge>(
    `UPDATE overage_charges SET next_attempt_at = ${msFromNow('leaseMs')}
     WHERE charge_id IN (
       SELECT charge_id FROM overage_charges
       WHERE ${CHARGEABLE} AND charge_id <> ALL (CAST(:except AS bigint[]))
       ORDER BY next_attempt_at LIMIT :limit FOR UPDATE SKIP LOCKED)
     RETURNING ${CHARGE}`,
    { limit, leaseMs, except: [...except] },
  );
}

/** Stripe voids the invoice of a change that isn't paid within 23 hours; a renewal's is voided by an operator, who forgives it. */
const IS_GIVEN_UP = `invoices.state = 'void' AND billing_reason = 'subscription_update'`;

/**
 * What Stripe charges holds: an item that was made before a restore can have another amount. Without an invoice, it waits
 * for the subscription's next one. If the subscription has ended meanwhile, which waits for its row, or the invoice is
 * void, another attempt follows. The account is locked.
 */
export async function setCharged(
  query: Query,
  charge: Pick<OverageCharge, 'charge_id' | 'account_id' | 'period_id'>,
  made: { item_id: string; invoice_id: string | null; points: number; amount: number },
): Promise<void> {
  await query(
    `WITH live AS (${LIVE_AT_STRIPE} FOR SHARE OF subscriptions),
     charged AS (
       UPDATE overage_charges SET stripe_item_id = :item_id, stripe_invoice_id = :invoice_id, points = :points,
         amount = :amount, next_attempt_at = CASE WHEN CAST(:invoice_id AS text) IS NULL
           AND NOT EXISTS (SELECT FROM live) OR EXISTS (SELECT FROM invoices
             WHERE invoices.stripe_invoice_id = CAST(:invoice_id AS text) AND ${IS_GIVEN_UP}) THEN clock_timestamp() END
       WHERE charge_id = :charge_id AND next_attempt_at IS NOT NULL RETURNING account_id)
     INSERT INTO overage_checks (account_id) SELECT account_id FROM charged`,
    { charge_id: charge.charge_id, accountId: charge.account_id, periodId: charge.period_id, ...made },
  );
}

/**
 * What the invoice of a change took along waits for another one: which items those are, an attempt for each finds out.
 * The account is locked.
 */
export async function chargeAgain(query: Query, accountId: number, stripeInvoiceId: string): Promise<void> {
  await query(
    `UPDATE overage_charges SET next_attempt_at = clock_timestamp(), attempts = 0
     WHERE account_id = :accountId AND next_attempt_at IS NULL AND stripe_item_id IS NOT NULL
       AND (stripe_invoice_id IS NULL OR stripe_invoice_id = :stripeInvoiceId)
       AND EXISTS (SELECT FROM invoices WHERE invoices.stripe_invoice_id = :stripeInvoiceId AND ${IS_GIVEN_UP})`,
    { accountId, stripeInvoiceId },
  );
}

/** Someone has deleted the item at Stripe: it isn't made again. */
export async function setDeleted(query: Query, chargeId: number): Promise<void> {
  await query(
    'UPDATE overage_charges SET next_attempt_at = NULL WHERE charge_id = :chargeId AND stripe_item_id IS NOT NULL',
    { chargeId },
  );
}

/** Whether something is still to be put on an invoice. */
export async function isCharging(query: Query, accountId: number): Promise<boolean> {
  const rows = await query(
    'SELECT FROM overage_charges WHERE account_id = :accountId AND next_attempt_at IS NOT NULL LIMIT 1',
    { accountId },
  );
  return rows.length > 0;
}

/** An invoice of its own, for further points. */
export type OwnInvoice = {
  stripe_invoice_id: string;
  number: string | null;
  currency: string;
  total: number;
  is_unpaid: boolean;
};

const OWN_INVOICES = `FROM overage_charges JOIN invoices USING (account_id, stripe_invoice_id)
  WHERE invoices.subscription_id IS NULL`;

/** It was tried, and failed; Stripe may have given it up. */
const IS_UNPAID = `(invoices.state = 'uncollectible' OR invoices.state = 'open' AND failed_at IS NOT NULL)`;

/** Whether an invoice is for further points. */
export async function isForOverage(query: Query, stripeInvoiceId: string): Promise<boolean> {
  const rows = await query('SELECT FROM overage_charges WHERE stripe_invoice_id = :stripeInvoiceId LIMIT 1', {
    stripeInvoiceId,
  });
  return rows.length > 0;
}

/** Those that aren't paid, and those that operators still see as such. */
export function listReportable(query: Query, accountId: number): Promise<OwnInvoice[]> {
  return query<OwnInvoice>(
    `SELECT DISTINCT stripe_invoice_id, number, currency, total, ${IS_UNPAID} AS is_unpaid
     ${OWN_INVOICES} AND account_id = :accountId
       AND (${IS_UNPAID} OR EXISTS (SELECT FROM payment_issues
         WHERE kind = 'overage_unpaid' AND object_id = stripe_invoice_id AND resolved_at IS NULL))`,
    { accountId },
  );
}

/** What an item of an invoice states; `price` is in `period`'s currency. */
export async function findTerms(
  query: Query,
  periodId: number,
): Promise<{ currency: string; started_at: Date | null; ended_at: Date | null } | undefined> {
  const rows = await query<{ currency: string; started_at: Date | null; ended_at: Date | null }>(
    `SELECT currency, started_at, ended_at
     FROM period_overages LEFT JOIN billing_periods USING (period_id) WHERE period_id = :periodId`,
    { periodId },
  );
  return rows[0];
}

/** The live subscription that a period belongs to, if its invoices can have the period's further points. */
const LIVE_AT_STRIPE = `
  SELECT stripe_subscription_id
  FROM stripe_subscriptions JOIN subscriptions USING (subscription_id)
  JOIN billing_periods USING (subscription_id) JOIN period_overages USING (period_id)
  WHERE stripe_subscriptions.account_id = :accountId AND period_id = :periodId AND state = 'started'
    AND subscriptions.ended_at IS NULL AND stripe_subscription_id IS NOT NULL
    AND stripe_subscriptions.currency = period_overages.currency`;

/** Stripe's id of the subscription whose invoices have the period's further points; undefined if none will follow. */
export async function findLiveAtStripe(
  query: Query,
  { account_id: accountId, period_id: periodId }: Pick<OverageCharge, 'account_id' | 'period_id'>,
): Promise<string | undefined> {
  const rows = await query<{ stripe_subscription_id: string }>(LIVE_AT_STRIPE, { accountId, periodId });
  return rows[0]?.stripe_subscription_id;
}

export function listCharges(
  query: Query,
  { account_id }: { account_id?: number | undefined },
  { limit, before }: Page,
): Promise<(OverageCharge & { currency: string })[]> {
  const wanted = account_id === undefined ? '' : 'AND overage_charges.account_id = :account_id';
  return query(
    `SELECT ${CHARGE.replaceAll(/(account_id|period_id|created_at)/g, 'overage_charges.$1')}, currency
     FROM overage_charges JOIN period_overages USING (period_id)
     WHERE charge_id < :before ${wanted} ORDER BY charge_id DESC LIMIT :limit`,
    { account_id: account_id ?? null, limit, before },
  );
}

export const CHECK_DUE = `NOT EXISTS (SELECT FROM payment_restores)
  AND EXISTS (SELECT FROM overage_checks WHERE next_attempt_at <= clock_timestamp())`;

export const takeCheck = (query: Query): Promise<number | undefined> =>
  takeAsked(query, {
    table: 'overage_checks',
    due: 'next_attempt_at <= clock_timestamp() AND NOT EXISTS (SELECT FROM payment_restores)',
    order: 'next_attempt_at',
  });

export async function askLater(query: Query, accountId: number, ms: number): Promise<void> {
  await query(
    `INSERT INTO overage_checks (account_id, next_attempt_at) VALUES (:accountId, ${msFromNow('ms')})`,
    { accountId, ms },
  );
}

/** After a check that failed: the rollback brought its requests back. */
export async function putOffChecks(query: Query, accountId: number, ms: number): Promise<void> {
  await query(
    `UPDATE overage_checks SET next_attempt_at = ${msFromNow('ms')} WHERE account_id = :accountId`,
    { accountId, ms },
  );
}
