import type { components } from '../../../api/schema.d.ts';

export type Activity = components['schemas']['Activity'];

const LABELS: Readonly<Record<Activity['action'], string>> = {
  application_created: 'Created application',
  application_changed: 'Changed application',
  application_budget_changed: 'Changed the budget of application',
  application_documents_changed: 'Changed the trusted documents of application',
  application_revoked: 'Revoked application',
  application_restored: 'Restored application',
  application_revocation_recovered: 'Restored the revocation of application',
  application_deleted: 'Deleted application',
  application_verified: 'Verified application',
  application_verification_ended: 'Ended the verification of application',
  secret_rotated: 'Rotated the client secret of',
  previous_secret_ended: 'Ended the previous client secret of',
  token_issued: 'Generated token',
  token_copied: 'Copied token',
  token_revoked: 'Revoked token',
  connection_made: 'Connected application',
  connection_ended: 'Disconnected application',
  account_created: 'Created the account',
  account_changed: 'Changed the account holder’s name to',
  signed_in: 'Signed in',
  sign_in_limited: 'Too many failed sign-ins',
  signed_out: 'Signed out',
  signed_out_everywhere: 'Signed out everywhere',
  session_ended: 'Signed out another session',
  session_confirmed: 'Confirmed the session',
  confirmation_failed: 'Failed to confirm with a password or a second factor',
  password_changed: 'Changed the password',
  password_reset: 'Reset the password',
  password_reset_requested: 'Asked for a link to reset the password',
  email_change_requested: 'Asked to change the email address to',
  email_changed: 'Changed the email address to',
  totp_added: 'Added an authenticator app',
  totp_removed: 'Removed the authenticator app',
  passkey_added: 'Added passkey',
  passkey_renamed: 'Renamed a passkey to',
  passkey_removed: 'Removed passkey',
  recovery_codes_renewed: 'Generated new recovery codes',
  recovery_code_used: 'Used a recovery code',
  two_factor_reset: 'Reset two-factor authentication',
  account_exported: 'Exported the data of the account',
  account_deletion_requested: 'Asked to delete the account',
  account_deletion_cancelled: 'Cancelled the deletion of the account',
  team_created: 'Created team',
  team_renamed: 'Renamed the team to',
  team_applications_allowed: 'Allowed connected applications in team',
  team_applications_forbidden: 'Forbade connected applications in team',
  team_dissolved: 'Dissolved team',
  team_handed_over: 'Handed over team',
  team_domain_added: 'Added domain to team',
  team_domain_proven: 'Verified domain of team',
  team_domain_lost: 'Lost domain of team to another team',
  team_domain_removed: 'Removed domain from team',
  team_sso_set: 'Set the identity provider of team',
  team_sso_removed: 'Removed the identity provider of team',
  team_sso_required: 'Required single sign-on in team',
  team_sso_lifted: 'Stopped requiring single sign-on in team',
  team_sso_linked: 'Linked single sign-on of team',
  team_sso_refused: 'Refused a single sign-on to team',
  team_provisioning_changed: 'Changed how team is provisioned:',
  team_provisioning_ended: 'Switched provisioning off for team',
  team_provisioning_token_created: 'Created a provisioning token for team',
  team_provisioning_token_revoked: 'Revoked a provisioning token of team',
  team_user_provisioned: 'The directory added to the team',
  team_user_changed: 'The directory changed',
  team_user_removed: 'The directory removed from the team',
  team_user_deleted: 'The directory deleted its user',
  team_group_changed: 'The directory changed its group',
  team_invitation_made: 'Invited',
  team_invitation_withdrawn: 'Withdrew the invitation of',
  team_invitation_declined: 'Declined the invitation to',
  team_joined: 'Joined team',
  team_left: 'Left team',
  team_member_removed: 'Removed a member from team',
  team_member_role_changed: 'Changed a member’s role in team',
  member_budget_changed: 'Changed a member’s budget in team',
  account_blocked: 'Blocked the account',
  account_unblocked: 'Unblocked the account',
  period_created: 'Added a billing period',
  period_ended: 'Ended a billing period',
  period_changed: 'Changed a billing period',
  period_deleted: 'Deleted a billing period',
  period_blocked: 'Blocked a billing period',
  period_unblocked: 'Unblocked a billing period',
  period_team_slots_set: 'Changed the team slots of a billing period',
  subscription_created: 'Started a subscription',
  subscription_renewed: 'Renewed the subscription',
  subscription_plan_changed: 'Changed the plan',
  subscription_plan_change_planned: 'Planned a change of the plan',
  subscription_cancellation_planned: 'Cancelled the subscription at the end of the period',
  subscription_resumed: 'Resumed the subscription',
  subscription_team_slots_set: 'Changed the team slots of the subscription',
  subscription_team_slots_planned: 'Planned to release team slots',
  subscription_billing_date_moved: 'Moved the billing date of the subscription',
  subscription_ended: 'Ended the subscription',
  subscription_checkout_begun: 'Opened a payment page for a plan',
  subscription_upgrade_begun: 'Confirmed an upgrade of the plan',
  team_slots_purchase_begun: 'Confirmed a purchase of team slots',
  purchase_begun: 'Started a purchase of points',
  top_up_set: 'Changed automatic top-up',
  overage_set: 'Changed the cap of further points',
  credits_granted: 'Granted credits',
  credits_voided: 'Voided credits',
  alert_settings_changed: 'Changed the alert thresholds',
  alert_tested: 'Sent a test alert',
  webhook_created: 'Created a webhook',
  webhook_changed: 'Changed a webhook',
  webhook_tested: 'Sent a test event to a webhook',
  webhook_delivery_retried: 'Sent an event to a webhook again',
  webhook_secret_rotated: 'Rotated the secret of a webhook',
  webhook_previous_secret_ended: 'Ended the previous secret of a webhook',
  webhook_disabled: 'Disabled a webhook',
  webhook_deleted: 'Deleted a webhook',
  operator_views_set: 'Changed whether support may view the account',
  customer_view_begun: 'Began to view the account, read only',
  customer_view_ended: 'Stopped viewing the account',
};

type ActivityText = { label: string; subject: string | undefined; owner: string | undefined };

/** What was done: `Generated token`, `laptop`, `ETL`. */
export function activityText(entry: Activity): ActivityText {
  const { action, application } = entry;
  const subject = subjectOf(entry);
  const isToken = subject !== undefined && action.startsWith('token_');
  return { label: LABELS[action], subject, owner: isToken ? application?.name : undefined };
}

function subjectOf({ action, kind, details, application }: Activity): string | undefined {
  if (action.startsWith('token_')) return details.name;
  if (kind === 'applications') return application?.name ?? details.name;
  if (action === 'team_renamed') return details.name;
  if (action === 'team_invitation_made' || action === 'team_invitation_withdrawn') return details.email;
  if (action.startsWith('team_user_')) return details.email;
  if (action === 'team_group_changed') return details.name;
  if (kind === 'team') return details.team_name;
  if (action === 'account_changed' || action === 'passkey_renamed') return details.name;
  return action.startsWith('email_') ? details.email : undefined;
}

/** Who did it. */
export function actorText({ by, member_name }: Activity): string {
  if (by === 'member') return member_name ?? 'A former team member';
  return {
    you: 'You',
    operator: 'Support',
    application: 'Application',
    system: 'Automatic',
    unknown: 'Not signed in',
  }[by];
}
