import { Problem } from '@tollgate/http/problem';
import { revokeApplicationsOf } from '../../access/applications/changes.ts';
import type { LockInstant } from '../../billing/credits/changes.ts';
import { lockLiveSubscription } from '../../billing/subscriptions/store.ts';
import { cancelSubscription } from '../../billing/subscriptions/changes.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { endEmailTokens } from '../../identity/mails/email-tokens.ts';
import { assertCurrentPassword } from '../../identity/people/password-changes.ts';
import { wrongCurrentPassword } from '../../identity/people/input.ts';
import type { Caller } from '../../http/caller-address.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import { deleteSessions } from '../../identity/sessions/session-store.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { disableWebhook } from '../../notifications/deliveries/disable-webhook.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { ClientChangeOutbox } from '../../access/client-changes/client-change-outbox.ts';
import type { NewClientChange } from '../../access/client-changes/store.ts';
import { stopOverage } from '../../payments/overage/set.ts';
import { stopTopUps } from '../../payments/top-ups/set.ts';
import { leaveTeam } from '../../teams/changes.ts';
import { findMembership } from '../../teams/store.ts';
import type { DeletionMail } from './deletion-mails.ts';
import { wrongEmail } from './input.ts';
import { enabledWebhooks, markForDeletion, unmarkForDeletion } from './store.ts';
import type { PendingDeletion } from './store.ts';
import type { PasswordCheck } from '../../identity/passwords/password-attempt.ts';

type DeletionNeeds = PasswordCheck &
  Pick<ClientChangeOutbox, 'deliver'> & {
    query: Query;
    transact: Transact;
    wakeMails: () => void;
    deletionGraceDays: number;
    lockInstant: LockInstant;
  };

/**
 * Ends the account's credentials at once, and marks it for erasure after the grace (docs/design/identity.md).
 * @throws {Problem} invalid_request for the password or the address; account_deletion_pending; team_has_members
 */
export async function requestDeletion(
  needs: DeletionNeeds,
  signedIn: SignedIn,
  { email, current_password }: { email: string; current_password: string },
  caller: Caller,
): Promise<PendingDeletion> {
  const { account_id, actor, session } = signedIn;
  if (email.toLowerCase() !== session.account.email.toLowerCase()) throw wrongEmail();
  const current = { password: current_password, act: 'account_deletion' } as const;
  await assertCurrentPassword(needs, signedIn, current, caller);
  const { pending, changes } = await needs.transact(async (inside) => {
    const account = await lockAccount(inside, account_id);
    // A concurrent change may have replaced the password that was verified.
    if (account?.password_hash !== session.account.password_hash) throw wrongCurrentPassword();
    if (account.deletion_due_at !== null) throw new Problem('account_deletion_pending');
    const ended = await endEverything(inside, needs.lockInstant, account_id, actor);
    await deleteSessions(inside, account_id, session.session_id);
    const marked = await markForDeletion(inside, account_id, needs.deletionGraceDays);
    const details = { deletion_due_at: marked.deletion_due_at };
    const entry = { ...actor, application_id: null, account_id, details };
    await recordAudit(inside, { ...entry, action: 'account_deletion_requested' });
    await mail(inside, { kind: 'account_deletion_requested', recipient: account.email, account_id });
    return { pending: marked, changes: ended };
  });
  needs.wakeMails();
  await Promise.all(changes.map(needs.deliver));
  return pending;
}

/** Keeps what the request ended as it is. @throws {Problem} not_found, if none is pending, or once it is due */
export async function cancelDeletion(
  { transact, wakeMails }: Pick<DeletionNeeds, 'transact' | 'wakeMails'>,
  { account_id, actor }: Pick<SignedIn, 'account_id' | 'actor'>,
): Promise<void> {
  await transact((inside) => restoreAccount(inside, { account_id, actor }));
  wakeMails();
}

/** `query` is a transaction's. @throws {Problem} not_found */
export async function restoreAccount(
  query: Query,
  { account_id, actor }: Pick<SignedIn, 'account_id' | 'actor'>,
): Promise<void> {
  const account = await lockAccount(query, account_id);
  if (account === undefined || !(await unmarkForDeletion(query, account_id))) {
    throw new Problem('not_found', { detail: 'There is no deletion that can still be cancelled.' });
  }
  const change = changeOf(['deletion_due_at'], account, { deletion_due_at: null });
  const entry = { ...actor, application_id: null, account_id, details: {}, change };
  await recordAudit(query, { ...entry, action: 'account_deletion_cancelled' });
  await mail(query, { kind: 'account_deletion_cancelled', recipient: account.email, account_id });
}

/** The account is locked. Lock order: account, team, applications, subscription. */
async function endEverything(
  query: Query,
  lockInstant: LockInstant,
  accountId: number,
  actor: Actor,
): Promise<NewClientChange[]> {
  if ((await findMembership(query, accountId)) !== undefined) {
    await leaveTeam(query, { account_id: accountId, actor });
  }
  const changes = await revokeApplicationsOf(query, accountId, actor);
  for (const webhookId of await enabledWebhooks(query, accountId)) {
    await disableWebhook(query, webhookId, 'owner');
  }
  const live = await lockLiveSubscription(query, accountId);
  if (live?.cancel_at_period_end === false) {
    await cancelSubscription(query, live.subscription_id, 'period_end', actor);
  }
  await stopTopUps(query, accountId, actor);
  await stopOverage(query, lockInstant, accountId, actor);
  await endEmailTokens(query, accountId);
  return changes;
}

function mail(query: Query, wanted: DeletionMail): Promise<void> {
  return enqueueMail(query, wanted);
}
