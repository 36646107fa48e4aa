import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Page } from '../../http/input/page.ts';
import type { CreditSource } from './allocation.ts';
import type { AccountLedger, SettledPeriod } from './check.ts';
import type { CheckedCredit, CheckedCut } from './check-cuts.ts';
import type { Credit } from './credit.ts';
import type { VoidLedger } from './ledgers.ts';
import type { Movement } from './movement.ts';

const COLUMNS = `credit_id, account_id, points, points_remaining, source, priority, effective_at, usable_from,
  expires_at, note, purchase_id, void_requested_at, transfer_to, voided_at, points_voided, created_at`;

/** False if there is no such account, or if it is erased; otherwise locked as by lockAccount. */
export async function lockHolder(query: Query, accountId: number): Promise<boolean> {
  const rows = await query(
    'SELECT 1 FROM accounts WHERE account_id = :accountId AND erased_at IS NULL FOR NO KEY UPDATE',
    { accountId },
  );
  return rows.length > 0;
}

export type GrantKey = { reporter: string; idempotency_key: string; content_hash: string };

export async function findByKey(
  query: Query,
  { reporter, idempotency_key }: GrantKey,
): Promise<(Credit & Pick<GrantKey, 'content_hash'>) | undefined> {
  const rows = await query<Credit & Pick<GrantKey, 'content_hash'>>(
    `SELECT ${COLUMNS}, content_hash FROM credit_grants
     WHERE reporter = :reporter AND idempotency_key = :idempotency_key`,
    { reporter, idempotency_key },
  );
  return rows[0];
}

export type NewCredit = Pick<
  Credit,
  | 'account_id'
  | 'points'
  | 'source'
  | 'priority'
  | 'effective_at'
  | 'usable_from'
  | 'expires_at'
  | 'note'
  | 'purchase_id'
>;

/** Undefined if the key is taken; waits for a transaction that is about to take it. */
export async function insertCredit(query: Query, made: NewCredit & GrantKey): Promise<Credit | undefined> {
  const rows = await query<Credit>(
    `INSERT INTO credit_grants (account_id, points, source, priority, effective_at, usable_from, expires_at, note,
       purchase_id, reporter, idempotency_key, content_hash)
     VALUES (:account_id, :points, :source, :priority, :effective_at, :usable_from, :expires_at, :note,
       :purchase_id, :reporter, :idempotency_key, :content_hash)
     ON CONFLICT (reporter, idempotency_key) DO NOTHING RETURNING ${COLUMNS}`,
    made,
  );
  return rows[0];
}

/** Gives a new grant its points. */
export async function issuePoints(
  query: Query,
  { credit_id, account_id, points, purchase_id }: Credit,
  { at, actor }: { at: Date; actor: string },
): Promise<void> {
  await query(
    `INSERT INTO credit_movements (credit_id, account_id, from_ledger, to_ledger, points, reason, at, actor, purchase_id)
     VALUES (:credit_id, :account_id, 'issued', 'grant', :points, 'granted', :at, :actor, :purchase_id)`,
    { credit_id, account_id, points, at, actor, purchase_id },
  );
}

/** What is left of an account's grants, and the most that a present or later period includes. */
export async function sumPoints(
  query: Query,
  accountId: number,
): Promise<{ remaining: bigint; included: bigint }> {
  const rows = await query<{ remaining: string; included: string }>(
    `SELECT
       (SELECT coalesce(sum(points_remaining), 0)::text FROM credit_grants WHERE account_id = :accountId) AS remaining,
       (SELECT coalesce(max((description ->> 'points_limit')::bigint), 0)::text FROM billing_periods
        WHERE account_id = :accountId AND ended_at + (grace_sec + 1) * interval '1 second' > now()) AS included`,
    { accountId },
  );
  const { remaining, included } = singleRow(rows);
  return { remaining: BigInt(remaining), included: BigInt(included) };
}

export async function findCredit(query: Query, creditId: number): Promise<Credit | undefined> {
  const rows = await query<Credit>(`SELECT ${COLUMNS} FROM credit_grants WHERE credit_id = :creditId`, {
    creditId,
  });
  return rows[0];
}

/** Locked until the transaction ends. */
export async function lockCredit(query: Query, creditId: number): Promise<Credit> {
  const rows = await query<Credit>(
    `SELECT ${COLUMNS} FROM credit_grants WHERE credit_id = :creditId FOR UPDATE`,
    { creditId },
  );
  return singleRow(rows);
}

export async function markVoidRequested(
  query: Query,
  creditId: number,
  { at, void_to, transfer_to = null }: { at: Date; void_to: VoidLedger; transfer_to?: number | null },
): Promise<Credit> {
  const rows = await query<Credit>(
    `UPDATE credit_grants SET void_requested_at = :at, void_to = :void_to, transfer_to = :transfer_to
     WHERE credit_id = :creditId RETURNING ${COLUMNS}`,
    { creditId, at, void_to, transfer_to },
  );
  return singleRow(rows);
}

export async function insertReduction(
  query: Query,
  reduction: { credit_id: number; account_id: number; at: Date; points: number },
): Promise<void> {
  await query(
    `INSERT INTO credit_reductions (credit_id, account_id, at, points)
     VALUES (:credit_id, :account_id, :at, :points)`,
    reduction,
  );
}

export function listCredits(
  query: Query,
  { account_id, source }: { account_id?: number | undefined; source?: CreditSource | undefined },
  { limit, before }: Page,
): Promise<Credit[]> {
  const wanted = [
    ...(account_id === undefined ? [] : ['account_id = :account_id']),
    ...(source === undefined ? [] : ['source = :source']),
  ];
  return query<Credit>(
    `SELECT ${COLUMNS} FROM credit_grants WHERE ${['credit_id < :before', ...wanted].join(' AND ')}
     ORDER BY credit_id DESC LIMIT :limit`,
    { account_id: account_id ?? null, source: source ?? null, limit, before },
  );
}

const MOVEMENT_COLUMNS = `movement_id, credit_id, account_id, from_ledger, to_ledger, points, reason,
  corrects_movement_id, period_id, at, actor, purchase_id, stripe_id, created_at`;

export function listMovements(
  query: Query,
  of: { credit_id: number } | { account_id: number },
  { limit, before }: Page,
): Promise<Movement[]> {
  const wanted = 'credit_id' in of ? 'credit_id = :credit_id' : 'account_id = :account_id';
  return query<Movement>(
    `SELECT ${MOVEMENT_COLUMNS}
     FROM credit_movements WHERE ${wanted} AND movement_id < :before
     ORDER BY movement_id DESC LIMIT :limit`,
    { ...of, limit, before },
  );
}

export type LiveCredit = Credit & {
  /** What is not settled yet was used after it began, not before. */
  has_settled_start: boolean;
  /** Of what is left, the last points, which can't be used any more once usage is settled. */
  points_ending: number;
  /** What the account's open periods used above their included points, and what isn't settled of it. */
  unsettled_points: number;
};

/**
 * Those that aren't voided and have something left by the last settlement. One statement: between two, use could move
 * from a period to a grant.
 */
export function findLiveCredits(query: Query, accountId: number): Promise<LiveCredit[]> {
  return query<LiveCredit>(
    `SELECT ${COLUMNS}, NOT EXISTS (SELECT FROM credit_cuts AS cut
       WHERE cut.account_id = credit_grants.account_id AND at = usable_from AND resolved_at IS NULL
     ) AS has_settled_start, credit_points_ending(credit_grants) AS points_ending, (
       SELECT CAST(coalesce(sum(period_unsettled_points(period)), 0) AS bigint)
       FROM period_closings AS closing JOIN billing_periods AS period USING (period_id)
       WHERE closing.account_id = :accountId
     ) AS unsettled_points
     FROM credit_grants
     WHERE account_id = :accountId AND points_remaining > 0 AND void_requested_at IS NULL`,
    { accountId },
  );
}

export async function clearNotes(query: Query, accountId: number): Promise<void> {
  await query('UPDATE credit_grants SET note = NULL WHERE account_id = :accountId AND note IS NOT NULL', {
    accountId,
  });
}

/** Of accounts with grants, in the order of their IDs. */
export async function listHolders(query: Query, after: number, limit: number): Promise<number[]> {
  const rows = await query<{ account_id: number }>(
    `SELECT DISTINCT account_id FROM credit_grants WHERE account_id > :after ORDER BY account_id LIMIT :limit`,
    { after, limit },
  );
  return rows.map(({ account_id }) => account_id);
}

/** In µs, which a `Date` doesn't hold. */
const usOf = (column: string) => `CAST(extract(epoch FROM ${column}) * 1000000 AS bigint)`;

/** How long before its commit a change of plan can be dated. */
const CHANGING = "interval '10 seconds'";

/** `query` is a snapshot's, since usage may be settled meanwhile. */
export async function readLedger(query: Query, accountId: number): Promise<AccountLedger> {
  return {
    credits: await query<CheckedCredit>(
      `SELECT ${COLUMNS}, (SELECT period_id FROM overage_grants
         WHERE overage_grants.credit_id = credit_grants.credit_id) AS overage_period_id
       FROM credit_grants WHERE account_id = :accountId ORDER BY credit_id`,
      { accountId },
    ),
    movements: await query<AccountLedger['movements'][number]>(
      `SELECT ${MOVEMENT_COLUMNS}, ${usOf('created_at')} AS written_us
       FROM credit_movements WHERE account_id = :accountId ORDER BY movement_id`,
      { accountId },
    ),
    cuts: await query<CheckedCut>(
      `SELECT cut.at, ${usOf('resolved_at')} AS resolved_us, coalesce((
         SELECT json_agg(json_build_object('period_id', period_id, 'points', points, 'included', (
           SELECT json_agg(description -> 'points_limit') FROM (
             SELECT description, replaced_at, lag(replaced_at) OVER (ORDER BY replaced_at) AS since FROM (
               SELECT description, replaced_at FROM period_plans WHERE period_plans.period_id = recorded.period_id
               UNION ALL SELECT description, 'infinity' FROM billing_periods AS period
               WHERE period.period_id = recorded.period_id
             ) AS sold
           ) AS plan
           WHERE (since IS NULL OR since <= resolved_at) AND replaced_at + ${CHANGING} > resolved_at)))
         FROM credit_cut_points AS recorded WHERE recorded.account_id = cut.account_id AND recorded.at = cut.at
       ), '[]') AS points
       FROM credit_cuts AS cut WHERE account_id = :accountId ORDER BY resolved_at, at`,
      { accountId },
    ),
    periods: await query<SettledPeriod>(
      `SELECT period_id, (description ->> 'points_limit')::bigint AS included, settled_points, overuse_points,
         ended_at, ${usOf('closed_at')} AS closed_us, closed_points, CASE WHEN NOT EXISTS (
           SELECT FROM credit_corrections WHERE credit_corrections.period_id = period_credits.period_id
         ) THEN coalesce(usage_totals.points, 0) END AS counted_points
       FROM period_credits JOIN billing_periods USING (period_id) LEFT JOIN usage_totals USING (period_id)
       WHERE account_id = :accountId ORDER BY period_id`,
      { accountId },
    ),
  };
}
