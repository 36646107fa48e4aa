import type { Query } from '../database/query.ts';

/** Who acts, and how the request came. */
export type Actor = {
  /** `operator:<credential id>`. */
  actor: string;
  address: string;
  request_id: string;
};

type AuditAction =
  | 'application_created'
  | 'application_revoked'
  | 'application_restored'
  | 'application_deleted'
  | 'secret_rotated';

export type AuditEntry = Actor & {
  action: AuditAction;
  application_id: number;
  account_id: number;
  /** Never a secret. */
  details: Readonly<Record<string, string | number | null>>;
};

/** Appends to the audit log. `query` is that of the transaction which makes the change itself. */
export async function recordAudit(query: Query, entry: AuditEntry): Promise<void> {
  await query(
    `INSERT INTO audit_log (actor, action, application_id, account_id, address, request_id, details)
     VALUES (:actor, :action, :application_id, :account_id, :address, :request_id, :details)`,
    { ...entry, details: JSON.stringify(entry.details) },
  );
}
