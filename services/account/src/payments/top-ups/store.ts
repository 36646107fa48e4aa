import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import { msFromNow } from '../../platform/outbox/leased-rows.ts';
import { takeAsked } from '../account-checks.ts';
import type { Page } from '../../http/input/page.ts';
import type { AfterDecline } from './rules.ts';

export type TopUpChoice = {
  pack_id: number;
  /** Fewer points than these buy the pack. */
  threshold_points: number;
  /** In a calendar month, in UTC. */
  max_times: number;
  /** The same, in the minor unit of the pack's currency. */
  max_amount: number;
};

export type TopUpSettings = TopUpChoice & {
  account_id: number;
  is_on: boolean;
  /** In a row. */
  declines: number;
  paused_for: string | null;
  not_before: Date | null;
};

const SETTINGS = `account_id, is_on, pack_id, threshold_points, max_times, max_amount, declines, paused_for,
  not_before`;

export async function findSettings(query: Query, accountId: number): Promise<TopUpSettings | undefined> {
  const rows = await query<TopUpSettings>(
    `SELECT ${SETTINGS} FROM top_up_settings WHERE account_id = :accountId`,
    { accountId },
  );
  return rows[0];
}

/** Locked until the transaction ends; the account is locked before. */
export async function lockSettings(query: Query, accountId: number): Promise<TopUpSettings | undefined> {
  const rows = await query<TopUpSettings>(
    `SELECT ${SETTINGS} FROM top_up_settings WHERE account_id = :accountId FOR UPDATE`,
    { accountId },
  );
  return rows[0];
}

/** A backoff stays, and so does a pause that only another card ends. */
export async function saveChoice(
  query: Query,
  accountId: number,
  { is_on, isResumed, ...choice }: TopUpChoice & { is_on: boolean; isResumed: boolean },
): Promise<void> {
  await query(
    `INSERT INTO top_up_settings AS kept (account_id, is_on, pack_id, threshold_points, max_times, max_amount)
     VALUES (:accountId, :is_on, :pack_id, :threshold_points, :max_times, :max_amount)
     ON CONFLICT (account_id) DO UPDATE SET is_on = excluded.is_on, pack_id = excluded.pack_id,
       threshold_points = excluded.threshold_points, max_times = excluded.max_times,
       max_amount = excluded.max_amount, changed_at = now(), next_check_at = clock_timestamp(),
       declines = CASE WHEN :isResumed THEN 0 ELSE kept.declines END,
       paused_for = CASE WHEN NOT :isResumed THEN kept.paused_for END,
       not_before = CASE WHEN NOT :isResumed AND kept.declines > 0 THEN kept.not_before END`,
    { accountId, is_on, isResumed, ...choice },
  );
}

export async function switchOff(query: Query, accountId: number): Promise<boolean> {
  const rows = await query(
    `UPDATE top_up_settings SET is_on = false, changed_at = now()
     WHERE account_id = :accountId AND is_on RETURNING account_id`,
    { accountId },
  );
  return rows.length > 0;
}

export async function pause(query: Query, accountId: number, reason: string): Promise<void> {
  await query('UPDATE top_up_settings SET paused_for = :reason WHERE account_id = :accountId', {
    accountId,
    reason,
  });
}

/** After a card that works, or might. */
export async function resume(query: Query, accountId: number): Promise<void> {
  await query(
    `UPDATE top_up_settings SET declines = 0, paused_for = NULL, not_before = NULL,
       next_check_at = clock_timestamp()
     WHERE account_id = :accountId`,
    { accountId },
  );
}

export async function saveDecline(
  query: Query,
  accountId: number,
  { declines, paused_for, backoffMs }: AfterDecline,
): Promise<void> {
  await query(
    `UPDATE top_up_settings SET declines = :declines, paused_for = :paused_for,
       not_before = ${msFromNow('backoffMs')}, next_check_at = ${msFromNow('backoffMs')}
     WHERE account_id = :accountId`,
    { accountId, declines, paused_for, backoffMs },
  );
}

/** Until the month that the limits count has ended. */
export async function waitForNextMonth(query: Query, accountId: number): Promise<void> {
  const next = `(date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC'`;
  await query(
    `UPDATE top_up_settings SET not_before = ${next}, next_check_at = ${next} WHERE account_id = :accountId`,
    { accountId },
  );
}

export async function checkAgainIn(query: Query, accountId: number, ms: number): Promise<void> {
  await query(
    `UPDATE top_up_settings SET next_check_at =
       least(CASE WHEN not_before > clock_timestamp() THEN not_before END, ${msFromNow('ms')})
     WHERE account_id = :accountId`,
    { accountId, ms },
  );
}

/** After a check that failed: the rollback brought its requests back. */
export async function putOffChecks(query: Query, accountId: number, ms: number): Promise<void> {
  await query('DELETE FROM top_up_checks WHERE account_id = :accountId', { accountId });
  await checkAgainIn(query, accountId, ms);
}

/** After a decline, or until the next month; by Postgres' clock, which wakes the check then. */
export async function isWaiting(query: Query, accountId: number): Promise<boolean> {
  const rows = await query(
    'SELECT 1 FROM top_up_settings WHERE account_id = :accountId AND not_before > clock_timestamp()',
    { accountId },
  );
  return rows.length > 0;
}

/** SQL that is true while an account is to be looked at, and nothing keeps money from moving. */
export const CHECK_DUE = `NOT EXISTS (SELECT FROM payment_restores) AND (EXISTS (SELECT FROM top_up_checks)
  OR EXISTS (SELECT FROM top_up_settings WHERE is_on AND next_check_at <= clock_timestamp()))`;

/** Takes one, with all of its requests; skips what other replicas are taking. */
export async function takeCheck(query: Query): Promise<number | undefined> {
  const asked = await takeAsked(query, { table: 'top_up_checks', order: 'check_id' });
  if (asked !== undefined) return asked;
  const timed = await query<{ account_id: number }>(
    // The account, which is locked before its settings everywhere.
    `SELECT account_id FROM top_up_settings JOIN accounts USING (account_id)
     WHERE is_on AND next_check_at <= clock_timestamp()
     ORDER BY next_check_at LIMIT 1 FOR NO KEY UPDATE OF accounts SKIP LOCKED`,
  );
  return timed[0]?.account_id;
}

type TopUpState = 'open' | 'confirming' | 'processing' | 'paid' | 'declined' | 'canceled';

export type TopUp = {
  top_up_id: number;
  top_up_key: string;
  account_id: number;
  pack_id: number;
  pack_name: string;
  points: number;
  currency: string;
  /** In Stripe's minor unit, without tax. */
  amount: number;
  expires_after_days: number | null;
  state: TopUpState;
  payment_id: string | null;
  payment_method_id: string | null;
  decline_code: string | null;
  purchase_id: number | null;
  attempts: number;
  created_at: Date;
  decided_at: Date | null;
};

export type NewTopUp = Pick<
  TopUp,
  'account_id' | 'pack_id' | 'pack_name' | 'points' | 'currency' | 'amount' | 'expires_after_days'
>;

const COLUMNS = `top_up_id, top_up_key, account_id, pack_id, pack_name, points, currency, amount, expires_after_days,
  state, payment_id, payment_method_id, decline_code, purchase_id, attempts, created_at, decided_at`;

/** The account is locked, and has none that is pending. */
export async function insertTopUp(query: Query, made: NewTopUp): Promise<TopUp> {
  const rows = await query<TopUp>(
    `INSERT INTO top_ups (account_id, pack_id, pack_name, points, currency, amount, expires_after_days)
     VALUES (:account_id, :pack_id, :pack_name, :points, :currency, :amount, :expires_after_days)
     RETURNING ${COLUMNS}`,
    made,
  );
  return singleRow(rows);
}

/** One that is paid, and that a restored database has forgotten; this month's limits count it. */
export async function insertPaid(
  query: Query,
  made: NewTopUp & { top_up_key: string; purchase_id: number; payment_id: string; created_at: Date },
): Promise<void> {
  await query(
    `INSERT INTO top_ups (account_id, pack_id, pack_name, points, currency, amount, expires_after_days, top_up_key,
       state, purchase_id, payment_id, created_at, next_attempt_at, decided_at)
     VALUES (:account_id, :pack_id, :pack_name, :points, :currency, :amount, :expires_after_days, :top_up_key,
       'paid', :purchase_id, :payment_id, :created_at, NULL, :created_at)`,
    made,
  );
}

export async function lockByKey(query: Query, key: string): Promise<TopUp | undefined> {
  const rows = await query<TopUp>(
    `SELECT ${COLUMNS} FROM top_ups WHERE top_up_key = CAST(:key AS uuid) FOR UPDATE`,
    { key },
  );
  return rows[0];
}

const PENDING = `state IN ('open', 'confirming', 'processing')`;

export async function findPending(query: Query, accountId: number): Promise<TopUp | undefined> {
  const rows = await query<TopUp>(
    `SELECT ${COLUMNS} FROM top_ups WHERE account_id = :accountId AND ${PENDING}`,
    { accountId },
  );
  return rows[0];
}

/** Payments that may have been charged, and aren't decided here. */
export async function listUndecidedTopUps(query: Query): Promise<string[]> {
  const rows = await query<{ payment_id: string }>(
    `SELECT payment_id FROM top_ups WHERE ${PENDING} AND payment_id IS NOT NULL ORDER BY top_up_id`,
  );
  return rows.map(({ payment_id }) => payment_id);
}

/**
 * Of those that were paid or might be, in this calendar month. One that was begun in the month before and is paid in this
 * one counts in both, so that neither has more than its limits.
 */
export async function findSpent(query: Query, accountId: number): Promise<{ times: number; amount: number }> {
  const rows = await query<{ times: number; amount: number }>(
    `SELECT count(*)::int AS times, CAST(coalesce(sum(amount), 0) AS bigint) AS amount FROM top_ups
     WHERE account_id = :accountId AND state NOT IN ('declined', 'canceled')
       AND greatest(created_at, coalesce(decided_at, clock_timestamp()))
         >= date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`,
    { accountId },
  );
  return singleRow(rows);
}

/** Points of purchases whose payment is on its way, such as a debit. */
export async function sumProcessing(query: Query, accountId: number): Promise<number> {
  const rows = await query<{ points: number }>(
    `SELECT CAST(coalesce(sum(points), 0) AS bigint) AS points FROM purchases
     WHERE account_id = :accountId AND state = 'processing'`,
    { accountId },
  );
  return singleRow(rows).points;
}

/** Payment method of the last attempt that was declined. */
export async function findDeclinedMethod(query: Query, accountId: number): Promise<string | undefined> {
  const rows = await query<{ payment_method_id: string | null }>(
    `SELECT payment_method_id FROM top_ups WHERE account_id = :accountId AND state = 'declined'
     ORDER BY top_up_id DESC LIMIT 1`,
    { accountId },
  );
  return rows[0]?.payment_method_id ?? undefined;
}

/** From now on Stripe may be charging. */
export async function setConfirming(
  query: Query,
  topUpId: number,
  prepared: { payment_id: string; payment_method_id: string },
): Promise<void> {
  await query(
    `UPDATE top_ups SET state = 'confirming', payment_id = :payment_id, payment_method_id = :payment_method_id
     WHERE top_up_id = :topUpId AND state = 'open'`,
    { topUpId, ...prepared },
  );
}

/** Stripe tells of it later, by an event. */
export async function setProcessing(query: Query, topUpId: number, payment_id: string): Promise<void> {
  await query(
    `UPDATE top_ups SET state = 'processing', payment_id = :payment_id, next_attempt_at = NULL
     WHERE top_up_id = :topUpId AND ${PENDING}`,
    { topUpId, payment_id },
  );
}

export async function setDecided(
  query: Query,
  topUpId: number,
  decided:
    | { state: 'paid'; purchase_id: number; payment_id: string }
    | { state: 'declined'; decline_code: string | null }
    | { state: 'canceled' },
): Promise<void> {
  const values = { decline_code: null, purchase_id: null, payment_id: null, ...decided };
  await query(
    `UPDATE top_ups SET state = :state, purchase_id = :purchase_id, decline_code = :decline_code,
       payment_id = coalesce(:payment_id, payment_id), next_attempt_at = NULL, decided_at = clock_timestamp()
     WHERE top_up_id = :topUpId`,
    { topUpId, ...values },
  );
}

/** What nothing can be charged for yet ends with the switch. */
export async function cancelOpen(query: Query, accountId: number): Promise<void> {
  await query(
    `UPDATE top_ups SET state = 'canceled', next_attempt_at = NULL, decided_at = clock_timestamp()
     WHERE account_id = :accountId AND state = 'open'`,
    { accountId },
  );
}

/** Nothing is asked of Stripe after a restore, until payments are reconciled. */
export const ATTEMPT_DUE = `NOT EXISTS (SELECT FROM payment_restores)
  AND EXISTS (SELECT FROM top_ups WHERE next_attempt_at <= clock_timestamp())`;

/** Leases due rows. */
export function claimTopUps(
  query: Query,
  { limit, leaseMs, except }: { limit: number; leaseMs: number; except: readonly number[] },
): Promise<TopUp[]> {
  return query<TopUp>(
    `UPDATE top_ups SET next_attempt_at = ${msFromNow('leaseMs')} WHERE top_up_id IN (
       SELECT top_up_id FROM top_ups
       WHERE next_attempt_at <= clock_timestamp() AND top_up_id <> ALL (CAST(:except AS bigint[]))
         AND NOT EXISTS (SELECT FROM payment_restores)
       ORDER BY next_attempt_at LIMIT :limit FOR UPDATE SKIP LOCKED)
     RETURNING ${COLUMNS}`,
    { limit, leaseMs, except: [...except] },
  );
}

export async function postponeTopUp(query: Query, topUpId: number, backoffMs: number): Promise<void> {
  await query(
    `UPDATE top_ups SET attempts = attempts + 1, next_attempt_at = ${msFromNow('backoffMs')}
     WHERE top_up_id = :topUpId AND next_attempt_at IS NOT NULL`,
    { topUpId, backoffMs },
  );
}

export function listTopUps(
  query: Query,
  { account_id }: { account_id?: number | undefined },
  { limit, before }: Page,
): Promise<TopUp[]> {
  return query<TopUp>(
    `SELECT ${COLUMNS} FROM top_ups
     WHERE top_up_id < :before AND account_id = coalesce(CAST(:account_id AS bigint), account_id)
     ORDER BY top_up_id DESC LIMIT :limit`,
    { account_id: account_id ?? null, limit, before },
  );
}
