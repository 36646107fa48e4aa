import { recordAudit } from '../../platform/audit/audit-log.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { lockAccount, setEmailVerified, setPasswordHash } from '../accounts/account-store.ts';
import { countMailRequest } from '../attempts/mail-limits.ts';
import type { RequestedMails } from '../attempts/mail-limits.ts';
import { consumeEmailToken, endEmailTokens, findEmailToken } from '../mails/email-tokens.ts';
import type { IdentityMail } from '../mails/identity-mails.ts';
import { assertPasswordFits } from '../passwords/input.ts';
import { isPasswordRight } from '../passwords/password-attempt.ts';
import type { PasswordCheck } from '../passwords/password-attempt.ts';
import { newSecretToken } from '../secret-token.ts';
import type { Caller } from '../../http/caller-address.ts';
import { recordConfirmationFailed } from '../sessions/confirmation-failed.ts';
import type { SignedIn } from '../sessions/require-session.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import type { SessionTokens } from '../sessions/end-sessions.ts';
import { factorsOf } from '../sessions/factors.ts';
import { beginSession } from '../sessions/session-store.ts';
import type { SessionOrigin } from '../sessions/session-store.ts';
import type { BegunSession } from '../sessions/complete-sign-in.ts';
import { unknownToken, wrongCurrentPassword } from './input.ts';
import type { PasswordHasher } from '../passwords/password-hasher.ts';
import type { SignInNeeds } from '../sessions/sign-in.ts';

/** Mails a link to set a new password if the address has an account. @throws {Problem} too_many_requests */
export async function requestPasswordReset(
  { query, counts, mailLimits, wakeMails }: RequestedMails & { query: Query },
  email: string,
  { addressGroup, address: request_address, request_id }: Caller,
): Promise<void> {
  const request = {
    ...({ purpose: 'password_reset', recipient: email } as const),
    address: addressGroup,
    accountId: null,
  };
  await countMailRequest(counts, mailLimits, request);
  const mail: IdentityMail = { kind: 'password_reset', recipient: email, request_address, request_id };
  await enqueueMail(query, mail);
  wakeMails();
}

/**
 * Sets a new password by a mailed link, which also verifies the address. Ends all sessions and other links of the
 * account. @throws {Problem} invalid_request for the token or the password
 */
export async function resetPassword(
  needs: SessionTokens & { query: Query; transact: Transact; hasher: PasswordHasher; wakeMails: () => void },
  { token, password }: { token: string; password: string },
  { address, addressGroup, request_id }: Caller,
): Promise<void> {
  const { query, transact, hasher } = needs;
  // Looked up first, so that guessed tokens cost no hash.
  const found = await findEmailToken(query, token);
  if (found?.purpose !== 'reset_password') throw unknownToken();
  assertPasswordFits('password', password, found.email);
  const passwordHash = await hasher.hash(password, { addressGroup, isTrusted: true });
  const { account_id } = found;
  const actor = { actor: `account:${String(account_id)}`, address, request_id };
  const ended = await transact(async (inside) => {
    // Locked before the token, so that two links of one account can't deadlock.
    const account = await lockAccount(inside, account_id);
    if (account === undefined || !(await consumeEmailToken(inside, token))) throw unknownToken();
    await setPasswordHash(inside, account_id, passwordHash);
    await setEmailVerified(inside, account_id);
    const changes = await endSessions(needs, inside, { account_id, actor });
    await endEmailTokens(inside, account_id);
    await recordAudit(inside, {
      ...actor,
      application_id: null,
      account_id,
      action: 'password_reset',
      details: {},
    });
    const mail: IdentityMail = { kind: 'password_changed', recipient: account.email, account_id };
    await enqueueMail(inside, mail);
    return changes;
  });
  needs.wakeMails();
  await Promise.all(ended.map((tell) => tell()));
}

/**
 * Ends all sessions and begins a new one, which is confirmed only if a sign-in needs no more than the password.
 * @throws {Problem} invalid_request for either password; too_many_requests
 */
export async function changePassword(
  needs: SignInNeeds & SessionTokens & { wakeMails: () => void },
  signedIn: SignedIn,
  { current_password, new_password }: { current_password: string; new_password: string },
  origin: SessionOrigin,
  caller: Caller,
): Promise<BegunSession> {
  const { account_id, actor } = signedIn;
  const { email, password_hash } = signedIn.session.account;
  assertPasswordFits('new_password', new_password, email);
  const current = { password: current_password, act: 'password_change' } as const;
  await assertCurrentPassword(needs, signedIn, current, caller);
  const passwordHash = await needs.hasher.hash(new_password, {
    addressGroup: caller.addressGroup,
    isTrusted: true,
  });
  const { begun, ended } = await needs.transact(async (inside) => {
    const account = await lockAccount(inside, account_id);
    // A concurrent change may have replaced the password that was verified.
    if (account?.password_hash !== password_hash) throw wrongCurrentPassword();
    await setPasswordHash(inside, account_id, passwordHash);
    const changes = await endSessions(needs, inside, { account_id, actor });
    await endEmailTokens(inside, account_id);
    const token = newSecretToken();
    const session = await beginSession(inside, account_id, token, origin, needs.lifetimes, {
      ssoIdentityId: signedIn.session.sso_identity_id,
      // Else the password would do what a second factor is asked for (two-factor/confirmation.ts).
      isConfirmed: (await factorsOf(inside, account_id)).length === 0,
    });
    await recordAudit(inside, {
      ...actor,
      application_id: null,
      account_id,
      action: 'password_changed',
      details: {},
    });
    const mail: IdentityMail = { kind: 'password_changed', recipient: account.email, account_id };
    await enqueueMail(inside, mail);
    return { begun: { token, session: { ...session, account } }, ended: changes };
  });
  needs.wakeMails();
  await Promise.all(ended.map((tell) => tell()));
  return begun;
}

/** A stolen session must not be enough to take the account over. @throws {Problem} invalid_request; too_many_requests */
export async function assertCurrentPassword(
  needs: PasswordCheck & { query: Query },
  by: SignedIn,
  { password, act }: { password: string; act: 'password_change' | 'email_change' | 'account_deletion' },
  caller: Caller,
): Promise<void> {
  const { email, password_hash } = by.session.account;
  if (await isPasswordRight(needs, { email, password, password_hash }, caller)) return;
  await recordConfirmationFailed(needs.query, by, { for: act, with: 'password' });
  throw wrongCurrentPassword();
}
