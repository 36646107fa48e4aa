import type { AuditAction } from '@tollgate/contracts/audit-actions';
import type { Query } from '../database/query.ts';
import type { Change } from './change.ts';

export type Actor = {
  /**
   * `operator:<credential id>`, `operator:person/<operator id>`, `service:<credential id>`, `client:<client id>`,
   * `account:<account id>` for its owner, `renewal`, `closing`, `account-erasure`, `domain-check`, `team-sso`, `sign-up`, `seed`, `payments`, `webhook-delivery`, `scim:<token id>` or
   * `operator-sign-in`, for those whom an identity provider knows and who have no role.
   */
  actor: string;
  address: string;
  request_id: string;
  /** Of operators who have signed in: who that was, also once they are removed. `issuer` is null for passkeys. */
  person?: { name: string; issuer: string | null };
  /** Of what a second operator has confirmed: who asked for it. */
  requested_by?: { operator_id: number; name: string; issuer: string | null };
  /** Of operators: why, as they said it. Customers don't see it (identity/activity). */
  reason?: string;
};

export type AuditEntry = Actor & {
  action: AuditAction;
  application_id: number | null;
  /** Null for plans and products. */
  account_id: number | null;
  /** Never a secret. Dates become ISO 8601. */
  details: Readonly<Record<string, unknown>>;
  /** Operators' changes state it (every-change.test.ts). Undefined if nothing differs. */
  change?: Change | undefined;
};

/** `query` must be the transaction of the audited change. */
export async function recordAudit(query: Query, entry: AuditEntry): Promise<void> {
  const { person, reason, requested_by, change, ...row } = entry;
  // What an operator did reads the same whatever the change writes.
  const details = {
    ...entry.details,
    ...(person === undefined ? {} : { operator: person }),
    ...(requested_by === undefined ? {} : { requested_by }),
    ...(reason === undefined ? {} : { operator_reason: reason }),
  };
  await query(
    `INSERT INTO audit_log (actor, action, application_id, account_id, address, request_id, details, before, after)
     VALUES (:actor, :action, :application_id, :account_id, :address, :request_id, :details, :before, :after)`,
    {
      ...row,
      details: JSON.stringify(details),
      before: jsonOf(change?.before),
      after: jsonOf(change?.after),
    },
  );
}

/** SQL's null, which isn't JSON's. */
function jsonOf(fields: Change['before'] | undefined): string | null {
  return fields === undefined || fields === null ? null : JSON.stringify(fields);
}
