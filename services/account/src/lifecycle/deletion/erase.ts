import { deleteApplication } from '../../access/applications/changes.ts';
import { forfeitCredits } from '../../billing/credits/changes.ts';
import type { LockInstant } from '../../billing/credits/changes.ts';
import { endPeriod } from '../../billing/period-changes/changes.ts';
import { cancelSubscription } from '../../billing/subscriptions/changes.ts';
import { lockLiveSubscription } from '../../billing/subscriptions/store.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { HIDDEN_TYPES } from '../../platform/database/hidden-types.ts';
import type { Query } from '../../platform/database/query.ts';
import { isEndKnown } from '../../payments/subscriptions/store.ts';
import { endTeam } from '../../teams/changes.ts';
import { deleteMember, lockOwnTeam } from '../../teams/store.ts';
import type { DeletionMail } from './deletion-mails.ts';

const ERASURE: Actor = { actor: 'account-erasure', address: 'none', request_id: 'none' };

/** Rows of these tables are only about the account, or hold nothing but personal data. */
export const ERASED_TABLES = [
  'totp_secrets',
  'passkeys',
  'recovery_codes',
  'pending_sign_ins',
  'authorization_codes',
  'passkey_challenges',
  'sessions',
  'team_sso_identities',
  'operator_views',
  'scim_users',
  'pending_acts',
  'email_tokens',
  'mail_outbox',
  'sent_mails',
  'alert_settings',
  'top_up_settings',
  'top_up_checks',
  'overage_settings',
  'overage_checks',
  'budget_alerts',
  'webhooks',
  'refused_calls',
  'usage_operations',
] as const;

type Due = { account_id: number; email: string };

/** `waiting`: what it paid for has been ended, and it is erased once Stripe knows, and has charged the rest. */
type Erasure = 'erased' | 'waiting';

/**
 * Erases the account whose deletion is due first, in one transaction: it happens as a whole, or is repeated after a
 * crash. A cancellation waits for the lock and finds nothing to cancel, or was faster and the account isn't due any
 * more. Null if none is due. `failed`: accounts to leave for later.
 */
export async function eraseNextDue(
  query: Query,
  lockInstant: LockInstant,
  failed: number[],
): Promise<Erasure | null> {
  const [due] = await query<Due>(
    `SELECT account_id, email FROM accounts
     WHERE deletion_due_at <= now() AND account_id <> ALL (CAST(:failed AS bigint[]))
       AND ${isEndKnown('accounts.account_id')}
     ORDER BY deletion_due_at, account_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`,
    { failed },
  );
  if (due === undefined) return null;
  try {
    return await erase(query, lockInstant, due);
  } catch (error) {
    failed.push(due.account_id);
    throw error;
  }
}

/**
 * Erases this account if its deletion is due and Stripe charges it no more. Waits for a cancellation or another erasure
 * that is under way.
 */
export async function eraseDue(query: Query, lockInstant: LockInstant, accountId: number): Promise<void> {
  const [due] = await query<Due>(
    `SELECT account_id, email FROM accounts
     WHERE account_id = :accountId AND deletion_due_at <= now() AND ${isEndKnown('accounts.account_id')}
     FOR NO KEY UPDATE`,
    { accountId },
  );
  if (due !== undefined) await erase(query, lockInstant, due);
}

async function erase(query: Query, lockInstant: LockInstant, { account_id, email }: Due): Promise<Erasure> {
  const accountId = account_id;
  // An operator can have changed these since the request.
  await endMembership(query, accountId);
  const live = await lockLiveSubscription(query, accountId);
  if (live !== undefined) await endSubscription(query, live.subscription_id);
  await endPeriodsWithOverage(query, accountId);
  // Once the account is erased, there is no customer left whom a later charge could be explained to.
  const [known] = await query(`SELECT 1 WHERE ${isEndKnown(':accountId')}`, { accountId });
  if (known === undefined) return 'waiting';
  await eraseApplications(query, accountId);
  for (const table of ERASED_TABLES) {
    await query(`DELETE FROM ${table} WHERE account_id = :accountId`, { accountId });
  }
  await query('DELETE FROM team_invitations WHERE lower(email) = lower(:email) OR invited_by = :accountId', {
    email,
    accountId,
  });
  const entry = { ...ERASURE, application_id: null, account_id, details: {} };
  await recordAudit(query, { ...entry, action: 'account_erased' });
  await eraseAuditTrail(query, accountId);
  // Last, since counting the payer's stream waits for it.
  await forfeitCredits(query, lockInstant, accountId, ERASURE);
  await query(
    `UPDATE accounts SET email = 'deleted-' || account_id || '@deleted.invalid', name = 'Deleted account',
       password_hash = 'none', email_verified_at = NULL, deletion_requested_at = NULL, deletion_due_at = NULL,
       erased_at = now()
     WHERE account_id = :accountId`,
    { accountId },
  );
  await enqueueMail(query, { kind: 'account_deleted', recipient: email } satisfies DeletionMail);
  return 'erased';
}

async function endMembership(query: Query, accountId: number): Promise<void> {
  const found = await lockOwnTeam(query, accountId);
  if (found === undefined) return;
  const { team, role } = found;
  if (role === 'member') await deleteMember(query, team.team_id, accountId);
  else await endTeam(query, { account_id: accountId, actor: ERASURE }, team);
}

async function endSubscription(query: Query, subscriptionId: number): Promise<void> {
  // A planned cancellation that is due counts as ended; the renewals process it.
  await query(
    `UPDATE subscriptions SET cancel_at_period_end = false
     WHERE subscription_id = :subscriptionId AND cancel_at_period_end`,
    { subscriptionId },
  );
  await cancelSubscription(query, subscriptionId, 'now', ERASURE);
}

/** So that they are closed, and what was used of their further points is charged. Those of subscriptions have ended. */
async function endPeriodsWithOverage(query: Query, accountId: number): Promise<void> {
  const running = await query<{ period_id: number }>(
    `SELECT period_id FROM period_overages JOIN billing_periods USING (period_id)
     WHERE period_overages.account_id = :accountId AND subscription_id IS NULL
       AND started_at <= clock_timestamp() AND ended_at > clock_timestamp()
     ORDER BY period_id`,
    { accountId },
  );
  for (const { period_id } of running) await endPeriod(query, period_id, ERASURE);
}

/** The rows stay, as usage refers to them. */
async function eraseApplications(query: Query, accountId: number): Promise<void> {
  const rows = await query<{ application_id: number }>(
    `SELECT application_id FROM applications
     WHERE account_id = :accountId AND status <> 'deleted' AND type NOT IN ${HIDDEN_TYPES} ORDER BY application_id`,
    { accountId },
  );
  for (const { application_id } of rows) {
    await deleteApplication(query, { application_id, owner_id: accountId }, ERASURE);
  }
  const own = '(SELECT application_id FROM applications WHERE account_id = :accountId)';
  await query(`DELETE FROM access_tokens WHERE application_id IN ${own}`, { accountId });
  await query(`DELETE FROM application_secrets WHERE application_id IN ${own}`, { accountId });
  await query(`DELETE FROM refresh_tokens WHERE application_id IN ${own}`, { accountId });
  await query(`DELETE FROM authorization_requests WHERE application_id IN ${own}`, { accountId });
  await query("UPDATE applications SET redirect_uris = '{}' WHERE account_id = :accountId", { accountId });
  await query("UPDATE applications SET name = 'Deleted application' WHERE account_id = :accountId", {
    accountId,
  });
}

/** Who did what and when stays; addresses, and what was typed, go. */
async function eraseAuditTrail(query: Query, accountId: number): Promise<void> {
  await query("SELECT set_config('tollgate.erasing_account', CAST(:accountId AS text), true)", { accountId });
  // Who erased the account before its time, and why, is the operator's to answer for.
  await query(
    `UPDATE audit_log SET address = 'erased',
       details = CASE action WHEN 'account_deletion_carried_out' THEN details ELSE '{}' END
     WHERE account_id = :accountId OR actor = 'account:' || CAST(:accountId AS text)`,
    { accountId },
  );
  await query("SELECT set_config('tollgate.erasing_account', '', true)");
}
