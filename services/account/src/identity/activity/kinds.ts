import type { AUDIT_ACTIONS } from '../../platform/audit/audit-log.ts';

type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const ACTIVITY_KINDS = ['security', 'applications', 'team', 'billing', 'alerts'] as const;

export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

/** What an account's owner sees of its audit log. Null: the installation's own work, for operators only. */
const KIND_OF: Readonly<Record<AuditAction, ActivityKind | null>> = {
  application_created: 'applications',
  application_changed: 'applications',
  application_budget_changed: 'applications',
  application_revoked: 'applications',
  application_restored: 'applications',
  application_revocation_recovered: 'applications',
  application_deleted: 'applications',
  secret_rotated: 'applications',
  previous_secret_ended: 'applications',
  token_issued: 'applications',
  token_copied: 'applications',
  token_revoked: 'applications',
  account_created: 'security',
  account_changed: 'security',
  signed_in: 'security',
  sign_in_limited: 'security',
  signed_out: 'security',
  signed_out_everywhere: 'security',
  session_ended: 'security',
  session_confirmed: 'security',
  confirmation_failed: 'security',
  password_changed: 'security',
  password_reset: 'security',
  password_reset_requested: 'security',
  email_change_requested: 'security',
  email_changed: 'security',
  totp_added: 'security',
  totp_removed: 'security',
  passkey_added: 'security',
  passkey_renamed: 'security',
  passkey_removed: 'security',
  recovery_codes_renewed: 'security',
  recovery_code_used: 'security',
  two_factor_reset: 'security',
  team_created: 'team',
  team_renamed: 'team',
  team_dissolved: 'team',
  team_handed_over: 'team',
  team_invitation_made: 'team',
  team_invitation_withdrawn: 'team',
  team_invitation_declined: 'team',
  team_joined: 'team',
  team_left: 'team',
  team_member_removed: 'team',
  member_budget_changed: 'team',
  account_deletion_requested: 'security',
  account_deletion_cancelled: 'security',
  account_deletion_carried_out: null,
  account_erased: null,
  account_exported: 'security',
  account_blocked: 'billing',
  account_unblocked: 'billing',
  product_created: null,
  product_changed: null,
  plan_created: null,
  plan_changed: null,
  plan_archived: null,
  plan_restored: null,
  plan_published: null,
  plan_unpublished: null,
  period_created: 'billing',
  period_ended: 'billing',
  period_deleted: 'billing',
  period_blocked: 'billing',
  period_unblocked: 'billing',
  period_team_slots_set: 'billing',
  subscription_created: 'billing',
  subscription_renewed: 'billing',
  subscription_plan_changed: 'billing',
  subscription_plan_change_planned: 'billing',
  subscription_cancellation_planned: 'billing',
  subscription_resumed: 'billing',
  subscription_team_slots_set: 'billing',
  subscription_ended: 'billing',
  subscription_checkout_begun: 'billing',
  credits_granted: 'billing',
  credits_voided: 'billing',
  credits_not_granted: null,
  pack_created: null,
  plan_price_set: null,
  plan_price_withdrawn: null,
  payment_block_postponed: null,
  pack_withdrawn: null,
  purchase_begun: 'billing',
  payment_issue_resolved: null,
  payments_reconciled: null,
  usage_rebuilt: null,
  usage_repaired: null,
  usage_unassigned_counted: null,
  alert_settings_changed: 'alerts',
  alert_tested: 'alerts',
  webhook_created: 'alerts',
  webhook_changed: 'alerts',
  webhook_delivery_retried: 'alerts',
  webhook_tested: 'alerts',
  webhook_secret_rotated: 'alerts',
  webhook_previous_secret_ended: 'alerts',
  webhook_disabled: 'alerts',
  webhook_deleted: 'alerts',
};

export const OWN_ACTIONS = (Object.keys(KIND_OF) as AuditAction[]).filter(
  (action) => KIND_OF[action] !== null,
);

export function actionsOfKind(kind: ActivityKind | undefined): AuditAction[] {
  return kind === undefined ? OWN_ACTIONS : OWN_ACTIONS.filter((action) => KIND_OF[action] === kind);
}

export function kindOf(action: AuditAction): ActivityKind {
  const kind = KIND_OF[action];
  if (kind === null) throw new Error(`${action} is not shown to the account's owner`);
  return kind;
}
