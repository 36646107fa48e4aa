import type { Query } from '../database/query.ts';

export type Actor = {
  /**
   * `operator:<credential id>`, `operator:person/<operator id>`, `service:<credential id>`, `client:<client id>`,
   * `account:<account id>` for its owner, `renewal`, `closing`, `account-erasure`, `sign-up`, `seed`, `payments` or `webhook-delivery`.
   */
  actor: string;
  address: string;
  request_id: string;
  /** Of operators who have signed in: who that was, also once they are removed. `issuer` is null for passkeys. */
  person?: { name: string; issuer: string | null };
  /** Of operators: why, as they said it. Customers don't see it (identity/activity). */
  reason?: string;
};

export const AUDIT_ACTIONS = [
  'application_created',
  'application_changed',
  'application_budget_changed',
  'application_revoked',
  'application_restored',
  'application_revocation_recovered',
  'application_deleted',
  'secret_rotated',
  'previous_secret_ended',
  'token_issued',
  'token_copied',
  'token_revoked',
  'account_created',
  'account_changed',
  'signed_in',
  'sign_in_limited',
  'signed_out',
  'signed_out_everywhere',
  'session_ended',
  'session_confirmed',
  'confirmation_failed',
  'password_changed',
  'password_reset',
  'password_reset_requested',
  'email_change_requested',
  'email_changed',
  'totp_added',
  'totp_removed',
  'passkey_added',
  'passkey_renamed',
  'passkey_removed',
  'recovery_codes_renewed',
  'recovery_code_used',
  'two_factor_reset',
  'team_created',
  'team_renamed',
  'team_dissolved',
  'team_handed_over',
  'team_invitation_made',
  'team_invitation_withdrawn',
  'team_invitation_declined',
  'team_joined',
  'team_left',
  'team_member_removed',
  'member_budget_changed',
  'account_deletion_requested',
  'account_deletion_cancelled',
  'account_deletion_carried_out',
  'account_erased',
  'account_exported',
  'account_blocked',
  'account_unblocked',
  'product_created',
  'product_changed',
  'plan_created',
  'plan_changed',
  'plan_archived',
  'plan_restored',
  'plan_published',
  'plan_unpublished',
  'period_created',
  'period_ended',
  'period_deleted',
  'period_blocked',
  'period_unblocked',
  'period_team_slots_set',
  'subscription_created',
  'subscription_renewed',
  'subscription_plan_changed',
  'subscription_plan_change_planned',
  'subscription_cancellation_planned',
  'subscription_resumed',
  'subscription_team_slots_set',
  'subscription_team_slots_planned',
  'subscription_ended',
  'subscription_checkout_begun',
  'subscription_upgrade_begun',
  'team_slots_purchase_begun',
  'plan_price_set',
  'plan_price_withdrawn',
  'team_slot_price_set',
  'team_slot_price_withdrawn',
  'payment_block_postponed',
  'credits_granted',
  'credits_voided',
  'credits_not_granted',
  'pack_created',
  'pack_changed',
  'pack_withdrawn',
  'purchase_begun',
  'top_up_set',
  'overage_set',
  'payment_issue_resolved',
  'payments_reconciled',
  'usage_rebuilt',
  'usage_repaired',
  'usage_unassigned_counted',
  'alert_settings_changed',
  'alert_tested',
  'webhook_created',
  'webhook_changed',
  'webhook_delivery_retried',
  'webhook_tested',
  'webhook_secret_rotated',
  'webhook_previous_secret_ended',
  'webhook_disabled',
  'webhook_deleted',
  'operator_created',
  'operator_removed',
  'operator_link_created',
  'operator_enrolled',
  'operator_signed_in',
  'operator_signed_out',
  'operator_session_ended',
  'operator_searched',
] as const;

type AuditAction = (typeof AUDIT_ACTIONS)[number];

export type AuditEntry = Actor & {
  action: AuditAction;
  application_id: number | null;
  /** Null for plans and products. */
  account_id: number | null;
  /** Never a secret. Dates become ISO 8601. */
  details: Readonly<Record<string, unknown>>;
};

/** `query` must be the transaction of the audited change. */
export async function recordAudit(query: Query, entry: AuditEntry): Promise<void> {
  const { person, reason, ...row } = entry;
  // What an operator did reads the same whatever the change writes.
  const details = {
    ...entry.details,
    ...(person === undefined ? {} : { operator: person }),
    ...(reason === undefined ? {} : { operator_reason: reason }),
  };
  await query(
    `INSERT INTO audit_log (actor, action, application_id, account_id, address, request_id, details)
     VALUES (:actor, :action, :application_id, :account_id, :address, :request_id, :details)`,
    { ...row, details: JSON.stringify(details) },
  );
}
