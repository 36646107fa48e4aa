import { recordAudit } from '../../platform/audit/audit-log.ts';
import { endEmailTokens } from '../people/email-tokens.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { newSecretToken } from '../secret-token.ts';
import type { SignedIn } from '../sessions/require-session.ts';
import { beginSession, endAllSessions } from '../sessions/session-store.ts';
import type { SessionOrigin } from '../sessions/session-store.ts';
import type { BegunSession, SignInParts } from '../sessions/sign-in.ts';
import { lockAccount, setPasswordHash } from './account-store.ts';
import { assertPasswordFits, wrongCurrentPassword } from '../people/input.ts';
import { countMailRequest } from '../people/mail-limits.ts';
import { isPasswordRight } from '../passwords/password-attempt.ts';
import type { Stranger } from '../people/people.ts';

/**
 * A session alone must not be enough to take the account over. @throws {Problem} invalid_request;
 * too_many_requests
 */
async function assertCurrentPassword(
  parts: SignInParts,
  { session }: SignedIn,
  password: string,
  by: Stranger,
): Promise<void> {
  const { email, password_hash } = session.account;
  if (!(await isPasswordRight(parts, { email, password, password_hash }, by))) throw wrongCurrentPassword();
}

/**
 * Changes the password: all sessions end, and a new one begins for who asked. @throws {Problem} invalid_request
 * for the current password or the new one; too_many_requests
 */
export async function changePassword(
  parts: SignInParts,
  signedIn: SignedIn,
  { current_password, new_password }: { current_password: string; new_password: string },
  origin: SessionOrigin,
  by: Stranger,
): Promise<BegunSession> {
  const { account_id, actor } = signedIn;
  const { email, password_hash } = signedIn.session.account;
  assertPasswordFits('new_password', new_password, email);
  await assertCurrentPassword(parts, signedIn, current_password, by);
  const passwordHash = await parts.hasher.hash(new_password);
  const begun = await parts.transact(async (inside) => {
    const account = await lockAccount(inside, account_id);
    // Another change came first: the password that was verified is the current one no more.
    if (account?.password_hash !== password_hash) throw wrongCurrentPassword();
    await setPasswordHash(inside, account_id, passwordHash);
    await endAllSessions(inside, account_id);
    await endEmailTokens(inside, account_id);
    const token = newSecretToken();
    const session = await beginSession(inside, account_id, token, origin, parts.lifetimes);
    await recordAudit(inside, {
      ...actor,
      application_id: null,
      account_id,
      action: 'password_changed',
      details: {},
    });
    await enqueueMail(inside, { kind: 'password_changed', recipient: account.email, account_id });
    return { token, session: { ...session, account } };
  });
  parts.wakeMails();
  return begun;
}

/**
 * Has a link sent to a new address, which counts when it is used. Whether the address is another account's is
 * told to that address only. @throws {Problem} invalid_request for the current password; too_many_requests
 */
export async function requestEmailChange(
  parts: SignInParts,
  signedIn: SignedIn,
  { email, current_password }: { email: string; current_password: string },
  by: Stranger,
): Promise<void> {
  const { account_id, actor } = signedIn;
  await assertCurrentPassword(parts, signedIn, current_password, by);
  const request = { purpose: 'email_change', recipient: email, address: by.addressGroup } as const;
  await countMailRequest(parts.counts, parts.mailLimits, request);
  await parts.transact(async (inside) => {
    await recordAudit(inside, {
      ...actor,
      application_id: null,
      account_id,
      action: 'email_change_requested',
      details: { email },
    });
    await enqueueMail(inside, { kind: 'email_change', recipient: email, account_id });
  });
  parts.wakeMails();
}
