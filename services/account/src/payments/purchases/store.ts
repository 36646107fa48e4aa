import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Page } from '../../http/input/page.ts';

export type PurchaseState = 'open' | 'processing' | 'paid' | 'expired' | 'failed' | 'refunded';

export type Purchase = {
  purchase_id: number;
  purchase_key: string;
  account_id: number;
  pack_id: number;
  pack_name: string;
  quantity: number;
  /** Of all packs. */
  points: number;
  currency: string;
  /** As sold, in Stripe's minor unit. */
  amount: number;
  expires_after_days: number | null;
  state: PurchaseState;
  session_id: string | null;
  session_url: string | null;
  payment_id: string | null;
  credit_id: number | null;
  created_at: Date;
  paid_at: Date | null;
};

export type NewPurchase = Pick<
  Purchase,
  | 'account_id'
  | 'pack_id'
  | 'pack_name'
  | 'quantity'
  | 'points'
  | 'currency'
  | 'amount'
  | 'expires_after_days'
>;

const COLUMNS = `purchase_id, purchase_key, account_id, pack_id, pack_name, quantity, points, currency, amount,
  expires_after_days, state, session_id, session_url, payment_id, credit_id, created_at, paid_at`;

/** How long an open page is offered again instead of another one. */
const REUSED_FOR = "interval '30 minutes'";

export async function insertPurchase(
  query: Query,
  made: NewPurchase & { session_id?: string },
): Promise<Purchase> {
  const rows = await query<Purchase>(
    `INSERT INTO purchases
       (account_id, pack_id, pack_name, quantity, points, currency, amount, expires_after_days, session_id)
     VALUES (:account_id, :pack_id, :pack_name, :quantity, :points, :currency, :amount, :expires_after_days,
       :session_id)
     RETURNING ${COLUMNS}`,
    { session_id: null, ...made },
  );
  return singleRow(rows);
}

/** An open purchase of the same, also one whose page isn't known yet. */
export async function findReusable(
  query: Query,
  wanted: Pick<Purchase, 'account_id' | 'pack_id' | 'quantity'>,
): Promise<Purchase | undefined> {
  const rows = await query<Purchase>(
    `SELECT ${COLUMNS} FROM purchases
     WHERE account_id = :account_id AND pack_id = :pack_id AND quantity = :quantity AND state = 'open'
       AND created_at > now() - ${REUSED_FOR}
     ORDER BY purchase_id DESC LIMIT 1`,
    wanted,
  );
  return rows[0];
}

/** By its page or, if that isn't stored yet, by the id in the page's metadata. Locked until the transaction ends. */
export async function lockByPage(
  query: Query,
  { session_id, purchase_key }: { session_id: string; purchase_key: string },
): Promise<Purchase | undefined> {
  const rows = await query<Purchase>(
    `SELECT ${COLUMNS} FROM purchases
     WHERE session_id = :session_id OR (session_id IS NULL AND purchase_key = CAST(:purchase_key AS uuid))
     FOR UPDATE`,
    { session_id, purchase_key },
  );
  return rows[0];
}

/** Pages of purchases that aren't decided, the oldest first. */
export async function listUndecided(query: Query): Promise<string[]> {
  const rows = await query<{ session_id: string }>(
    `SELECT session_id FROM purchases
     WHERE state IN ('open', 'processing') AND session_id IS NOT NULL ORDER BY purchase_id`,
  );
  return rows.map(({ session_id }) => session_id);
}

export async function findPurchase(query: Query, purchaseId: number): Promise<Purchase | undefined> {
  const rows = await query<Purchase>(`SELECT ${COLUMNS} FROM purchases WHERE purchase_id = :purchaseId`, {
    purchaseId,
  });
  return rows[0];
}

/** Of a payment that has granted points, or would have. */
export async function findByPayment(query: Query, paymentId: string): Promise<Purchase | undefined> {
  const rows = await query<Purchase>(`SELECT ${COLUMNS} FROM purchases WHERE payment_id = :paymentId`, {
    paymentId,
  });
  return rows[0];
}

/** Another purchase of the same on a page that was begun at nearly the same time and is paid, too. */
export async function findDuplicate(
  query: Query,
  { account_id, pack_id, quantity, purchase_id, created_at }: Purchase,
): Promise<number | undefined> {
  const rows = await query<{ purchase_id: number }>(
    `SELECT purchase_id FROM purchases
     WHERE account_id = :account_id AND pack_id = :pack_id AND quantity = :quantity
       AND purchase_id <> :purchase_id AND state = 'paid'
       AND NOT EXISTS (SELECT FROM top_ups WHERE top_ups.purchase_id = purchases.purchase_id)
       AND created_at BETWEEN CAST(:created_at AS timestamptz) - ${REUSED_FOR}
         AND CAST(:created_at AS timestamptz) + ${REUSED_FOR}
     ORDER BY purchase_id DESC LIMIT 1`,
    { account_id, pack_id, quantity, purchase_id, created_at },
  );
  return rows[0]?.purchase_id;
}

export async function findOwnPurchase(
  query: Query,
  accountId: number,
  purchaseId: number,
): Promise<Purchase | undefined> {
  const rows = await query<Purchase>(
    `SELECT ${COLUMNS} FROM purchases WHERE purchase_id = :purchaseId AND account_id = :accountId`,
    { purchaseId, accountId },
  );
  return rows[0];
}

export function listPurchases(
  query: Query,
  { account_id }: { account_id?: number | undefined },
  { limit, before }: Page,
): Promise<Purchase[]> {
  return query<Purchase>(
    `SELECT ${COLUMNS} FROM purchases
     WHERE purchase_id < :before AND account_id = coalesce(CAST(:account_id AS bigint), account_id)
     ORDER BY purchase_id DESC LIMIT :limit`,
    { account_id: account_id ?? null, limit, before },
  );
}

export type ReversedPurchase = Purchase & {
  refunded_amount: number;
  points_taken: number;
  shortfall_points: number;
};

/** With what was taken back of them. */
export function listWithReversals(
  query: Query,
  { account_id }: { account_id?: number | undefined },
  { limit, before }: Page,
): Promise<ReversedPurchase[]> {
  const columns = COLUMNS.split(/,\s+/).map((column) => `purchases.${column}`);
  return query<ReversedPurchase>(
    `SELECT ${columns.join(', ')}, coalesce(refunded_amount, 0) AS refunded_amount,
       coalesce(taken_points, 0) AS points_taken, coalesce(shortfall_points, 0) AS shortfall_points
     FROM purchases LEFT JOIN purchase_reversals USING (purchase_id)
     WHERE purchases.purchase_id < :before
       AND purchases.account_id = coalesce(CAST(:account_id AS bigint), purchases.account_id)
     ORDER BY purchases.purchase_id DESC LIMIT :limit`,
    { account_id: account_id ?? null, limit, before },
  );
}

/** A decided purchase stays as it is, and one in `processing` doesn't open again: answers can come late. */
export async function setState(
  query: Query,
  purchaseId: number,
  state: Exclude<PurchaseState, 'paid' | 'refunded'>,
): Promise<void> {
  await query(
    `UPDATE purchases SET state = :state
     WHERE purchase_id = :purchaseId AND state IN ('open', 'processing')
       AND NOT (state = 'processing' AND CAST(:state AS text) = 'open')`,
    { purchaseId, state },
  );
}

/** Without `credit_id`, nothing was granted for it. */
export async function setPaid(
  query: Query,
  purchaseId: number,
  paid: { payment_id: string; credit_id: number | null; state: 'paid' | 'refunded' },
): Promise<void> {
  await query(
    `UPDATE purchases SET state = :state, payment_id = :payment_id, credit_id = :credit_id, paid_at = now()
     WHERE purchase_id = :purchaseId`,
    { purchaseId, ...paid },
  );
}
