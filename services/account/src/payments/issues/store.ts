import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Page } from '../../http/input/page.ts';

/** Why an operator must look at a payment (docs/runbook.md, "Payment issues"). */
export const ISSUE_KINDS = [
  'dispute',
  'dispute_inquiry',
  'interval_changed_late',
  'late_payment_refunded',
  'overage_unpaid',
  'payment_failed_after_grant',
  'plan_changed_late',
  'points_not_granted',
  'possible_duplicate',
  'price_not_mapped',
  'refund_outside_purchases',
  'refund_shortfall',
  'subscription_not_started',
] as const;

type IssueKind = (typeof ISSUE_KINDS)[number];

export type Issue = {
  issue_id: number;
  kind: IssueKind;
  /** At the payment provider. */
  object_id: string;
  account_id: number | null;
  details: Record<string, unknown>;
  created_at: Date;
  resolved_at: Date | null;
};

const COLUMNS = 'issue_id, kind, object_id, account_id, details, created_at, resolved_at';

type NewIssue = Pick<Issue, 'kind' | 'object_id' | 'account_id' | 'details'>;

/** Once for its kind and object; opens again if the details have changed. Resolves to whether it is new. */
export async function reportIssue(query: Query, { details, ...issue }: NewIssue): Promise<boolean> {
  const rows = await query<{ is_new: boolean }>(
    `INSERT INTO payment_issues AS issue (kind, object_id, account_id, details)
     VALUES (:kind, :object_id, :account_id, CAST(:details AS jsonb))
     ON CONFLICT (kind, object_id) DO UPDATE SET details = excluded.details, resolved_at = NULL
     WHERE issue.details <> excluded.details
     RETURNING xmax = 0 AS is_new`,
    { ...issue, details: JSON.stringify(details) },
  );
  return rows[0]?.is_new === true;
}

/** It is no issue any more. */
export async function settleIssue(
  query: Query,
  { kind, object_id }: Pick<Issue, 'kind' | 'object_id'>,
): Promise<void> {
  await query(
    `UPDATE payment_issues SET resolved_at = now()
     WHERE kind = :kind AND object_id = :object_id AND resolved_at IS NULL`,
    { kind, object_id },
  );
}

/** Locked until the transaction ends. */
export async function lockIssue(query: Query, issueId: number): Promise<Issue | undefined> {
  const rows = await query<Issue>(
    `SELECT ${COLUMNS} FROM payment_issues WHERE issue_id = :issueId FOR UPDATE`,
    {
      issueId,
    },
  );
  return rows[0];
}

export async function resolveIssue(query: Query, issueId: number): Promise<Issue> {
  const rows = await query<Issue>(
    `UPDATE payment_issues SET resolved_at = now() WHERE issue_id = :issueId RETURNING ${COLUMNS}`,
    { issueId },
  );
  return singleRow(rows);
}

export function listIssues(
  query: Query,
  { account_id, state }: { account_id?: number | undefined; state: 'open' | 'resolved' | 'all' },
  { limit, before }: Page,
): Promise<Issue[]> {
  return query<Issue>(
    `SELECT ${COLUMNS} FROM payment_issues
     WHERE issue_id < :before AND (CAST(:account_id AS bigint) IS NULL OR account_id = :account_id)
       AND (CAST(:state AS text) = 'all' OR (resolved_at IS NULL) = (CAST(:state AS text) = 'open'))
     ORDER BY issue_id DESC LIMIT :limit`,
    { account_id: account_id ?? null, state, limit, before },
  );
}
