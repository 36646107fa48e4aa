import type { AuditAction } from '@tollgate/contracts/audit-actions';
import type { Query } from '../database/query.ts';

/** What the operator said of an account's latest entry of the action, for the mail about it. */
export async function reasonOfLatest(
  query: Query,
  accountId: number,
  action: AuditAction,
): Promise<string | undefined> {
  const rows = await query<{ reason: string | null }>(
    `SELECT details->>'operator_reason' AS reason FROM audit_log
     WHERE account_id = :accountId AND action = :action ORDER BY audit_id DESC LIMIT 1`,
    { accountId, action },
  );
  return rows[0]?.reason ?? undefined;
}
