import type { Query } from '../../platform/database/query.ts';
import { reportIssue } from './store.ts';

type Granted = {
  purchase_id: number;
  account_id: number;
  payment_id: string | null;
  credit_id: number | null;
  points: number;
};

/** A payment failed after its points were granted. They stay: an operator decides. Returns what it says in a sentence. */
export async function reportFailure(query: Query, purchase: Granted): Promise<string> {
  const { purchase_id, account_id, payment_id, credit_id, points } = purchase;
  const rows = await query<{ used: number }>(
    `SELECT CAST(coalesce(sum(CASE WHEN to_ledger = 'used' THEN points ELSE -points END), 0) AS bigint) AS used
     FROM credit_movements WHERE credit_id = :credit_id AND 'used' IN (from_ledger, to_ledger)`,
    { credit_id },
  );
  await reportIssue(query, {
    kind: 'payment_failed_after_grant',
    object_id: payment_id ?? String(purchase_id),
    account_id,
    details: { purchase_id, credit_id, points_granted: points, points_used: rows[0]?.used ?? 0 },
  });
  return `purchase ${String(purchase_id)}: its payment failed after its points were granted`;
}
