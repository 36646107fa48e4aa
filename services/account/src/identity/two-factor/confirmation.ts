import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { refuseExceeded } from '../attempts/attempt-counts.ts';
import { unguessableAttempt } from '../attempts/second-step-limits.ts';
import { isPasswordRight } from '../passwords/password-attempt.ts';
import type { Caller } from '../sessions/caller-address.ts';
import { signedIn } from '../sessions/require-session.ts';
import type { SignedIn } from '../sessions/require-session.ts';
import { confirmSession } from '../sessions/session-store.ts';
import { verifyAssertion } from './passkeys/assertion.ts';
import { passkeyRefused } from './passkeys/input.ts';
import type { Assertion } from './passkeys/input.ts';
import { notePasskeyUse } from './passkeys/passkey-store.ts';
import type { TwoFactorParts } from './two-factor.ts';

/**
 * Middleware after requireSession: a stolen session, or a browser left alone, can't change what protects the account.
 * @throws {Problem} confirmation_required
 */
export const requireConfirmed: RequestHandler = (_req, res, next) => {
  if (!signedIn(res).session.is_confirmed) {
    throw new Problem('confirmation_required', {
      detail: 'Confirm the session with POST /api/console/session/confirm, then try again.',
    });
  }
  next();
};

/** Counts as a sign-in. @throws {Problem} invalid_request for the password; too_many_requests */
export async function confirmWithPassword(
  parts: TwoFactorParts,
  { session }: SignedIn,
  password: string,
  caller: Caller,
): Promise<void> {
  const { email, password_hash } = session.account;
  const isRight = await isPasswordRight(parts, { email, password, password_hash }, caller);
  if (!isRight) throw invalidFields([{ field: 'password', message: 'is wrong' }]);
  await confirmSession(parts.query, session.session_id);
}

/** @throws {Problem} invalid_request for the credential; passkeys_unavailable; too_many_requests */
export async function confirmWithPasskey(
  parts: TwoFactorParts,
  { account_id: accountId, session }: SignedIn,
  credential: Assertion,
  { addressGroup: address }: Caller,
): Promise<void> {
  const attempt = unguessableAttempt(parts.signInLimits, { accountId, address });
  refuseExceeded(await parts.counts.take(attempt));
  const passkey = await verifyAssertion(parts, credential, { purpose: 'confirm', accountId });
  if (!(await notePasskeyUse(parts.query, passkey))) throw passkeyRefused();
  await confirmSession(parts.query, session.session_id);
  await parts.counts.giveBack(attempt);
}
