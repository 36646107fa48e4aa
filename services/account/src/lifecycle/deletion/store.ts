import { singleRow } from '../../platform/database/single-row.ts';
import { HIDDEN_TYPES } from '../../platform/database/hidden-types.ts';
import type { Query } from '../../platform/database/query.ts';

export type PendingDeletion = { deletion_requested_at: Date; deletion_due_at: Date };

/** The account is locked. */
export async function markForDeletion(
  query: Query,
  accountId: number,
  graceDays: number,
): Promise<PendingDeletion> {
  const rows = await query<PendingDeletion>(
    `UPDATE accounts SET deletion_requested_at = now(), deletion_due_at = now() + :graceDays * interval '1 day'
     WHERE account_id = :accountId RETURNING deletion_requested_at, deletion_due_at`,
    { accountId, graceDays },
  );
  return singleRow(rows);
}

/** False once the deletion is due: the deadline decides, not when the erasure gets to it. The account is locked. */
export async function unmarkForDeletion(query: Query, accountId: number): Promise<boolean> {
  const rows = await query(
    `UPDATE accounts SET deletion_requested_at = NULL, deletion_due_at = NULL
     WHERE account_id = :accountId AND deletion_due_at > now() RETURNING 1`,
    { accountId },
  );
  return rows.length > 0;
}

/** Ends the grace. The account is locked. */
export async function makeDue(query: Query, accountId: number): Promise<Date> {
  const rows = await query<{ deletion_due_at: Date }>(
    'UPDATE accounts SET deletion_due_at = now() WHERE account_id = :accountId RETURNING deletion_due_at',
    { accountId },
  );
  return singleRow(rows).deletion_due_at;
}

export async function findPendingDeletion(
  query: Query,
  accountId: number,
): Promise<PendingDeletion | undefined> {
  const rows = await query<PendingDeletion>(
    `SELECT deletion_requested_at, deletion_due_at FROM accounts
     WHERE account_id = :accountId AND deletion_due_at IS NOT NULL`,
    { accountId },
  );
  return rows[0];
}

export async function enabledWebhooks(query: Query, accountId: number): Promise<number[]> {
  const rows = await query<{ webhook_id: number }>(
    `SELECT webhook_id FROM webhooks WHERE account_id = :accountId AND disabled_at IS NULL ORDER BY webhook_id`,
    { accountId },
  );
  return rows.map(({ webhook_id }) => webhook_id);
}

export type Consequences = {
  applications: number;
  tokens: number;
  /** Of all manual tokens. */
  last_used_at: Date | null;
  webhooks: number;
  team_name: string | null;
  team_role: 'manager' | 'member' | null;
  team_members: number;
  subscription_ends_at: Date | null;
};

/** What a deletion would end now. */
export async function findConsequences(query: Query, accountId: number): Promise<Consequences> {
  const rows = await query<Consequences>(
    `SELECT
       (SELECT count(*) FROM applications
        WHERE account_id = :accountId AND status = 'active' AND type NOT IN ${HIDDEN_TYPES}) AS applications,
       tokens.live AS tokens, tokens.last_used_at,
       (SELECT count(*) FROM webhooks WHERE account_id = :accountId AND disabled_at IS NULL) AS webhooks,
       team.name AS team_name, membership.role AS team_role,
       (SELECT count(*) FROM team_members WHERE team_id = membership.team_id) AS team_members,
       (SELECT renews_at FROM subscriptions WHERE account_id = :accountId AND ended_at IS NULL)
         AS subscription_ends_at
     FROM (
       SELECT count(*) AS live, max(last_used_at) AS last_used_at
       FROM access_tokens JOIN applications USING (application_id)
       WHERE account_id = :accountId AND status = 'active' AND type NOT IN ${HIDDEN_TYPES} AND revoked_at IS NULL
         AND expires_at > now() AND access_tokens.revocation_epoch >= applications.revocation_epoch
     ) AS tokens
     LEFT JOIN team_members AS membership ON membership.account_id = :accountId
     LEFT JOIN teams AS team USING (team_id)`,
    { accountId },
  );
  return singleRow(rows);
}
