import { withClient } from '@tollgate/stack/postgres';

/**
 * An accounting check that knows only the tables of the ledger and what is counted, and shares no code with the product:
 * each query returns what must not be.
 */
const FAULTS: Readonly<Record<string, string>> = {
  'a grant was issued once, with all its points': `
    SELECT credit_id FROM credit_grants AS granted WHERE account_id = $1 AND points <> (
      SELECT coalesce(sum(points), 0) FROM credit_movements
      WHERE credit_id = granted.credit_id AND from_ledger = 'issued')`,
  'what a grant has left is the balance of its movements': `
    SELECT credit_id FROM credit_grants AS granted WHERE account_id = $1 AND points_remaining <> (
      SELECT sum(CASE WHEN to_ledger = 'grant' THEN points ELSE -points END) FROM credit_movements
      WHERE credit_id = granted.credit_id)`,
  'no movement took more than was left': `
    SELECT movement_id FROM (
      SELECT movement_id, sum(CASE WHEN to_ledger = 'grant' THEN points ELSE -points END)
        OVER (PARTITION BY credit_id ORDER BY movement_id) AS balance
      FROM credit_movements WHERE account_id = $1) AS running
    WHERE balance < 0`,
  'a grant that ended has nothing left': `
    SELECT credit_id FROM credit_grants WHERE account_id = $1 AND points_remaining > 0
      AND least(expires_at, void_requested_at) < now() - interval '1 minute'`,
  'what a closed period used beyond its included points was taken once, or is overuse': `
    SELECT period_id FROM billing_periods AS period
    LEFT JOIN usage_totals USING (period_id) LEFT JOIN period_credits USING (period_id)
    WHERE period.account_id = $1
      AND greatest(0, coalesce(usage_totals.points, 0) - CAST(description ->> 'points_limit' AS bigint)) <>
        coalesce(overuse_points, 0) + (
          SELECT coalesce(sum(CASE WHEN to_ledger = 'used' THEN points ELSE -points END), 0)
          FROM credit_movements
          WHERE period_id = period.period_id AND 'used' IN (from_ledger, to_ledger))`,
  'usage is taken from grants of then': `
    SELECT movement_id FROM credit_movements AS movement JOIN credit_grants USING (credit_id)
    WHERE movement.account_id = $1 AND movement.reason = 'usage'
      AND (usable_from >= at OR least(expires_at, void_requested_at) < at)`,
};

/** What is wrong with an account's ledger once all its periods are closed, in words; empty if nothing is. */
export async function ledgerFaults(databaseUrl: string, accountId: number): Promise<string[]> {
  return withClient(databaseUrl, async (client) => {
    const found: string[] = [];
    for (const [promise, wrong] of Object.entries(FAULTS)) {
      const { rows } = await client.query(wrong, [accountId]);
      if (rows.length > 0) found.push(`not so: ${promise}: ${JSON.stringify(rows)}`);
    }
    return found;
  });
}
