import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { lockAccount } from '../accounts/account-store.ts';
import { refuseExceeded } from '../attempts/attempt-counts.ts';
import type { AttemptCounts, AttemptLimit } from '../attempts/attempt-counts.ts';
import { totpAttempt, unguessableAttempt } from '../attempts/second-step-limits.ts';
import { isPasswordRight } from '../passwords/password-attempt.ts';
import type { PasswordCheck } from '../passwords/password-attempt.ts';
import type { Caller } from '../../http/caller-address.ts';
import { recordConfirmationFailed } from '../sessions/confirmation-failed.ts';
import type { SignedIn } from '../sessions/require-session.ts';
import { confirmSession } from '../sessions/session-store.ts';
import { factorsOf } from '../sessions/factors.ts';
import type { Factor } from '../sessions/factors.ts';
import { verifyAssertion } from './passkeys/assertion.ts';
import type { PasskeyNeeds } from './passkeys/assertion.ts';
import { passkeyRefused } from './passkeys/input.ts';
import type { Assertion } from './passkeys/input.ts';
import { notePasskeyUse } from './passkeys/passkey-store.ts';
import { useRecoveryCode } from './recovery-codes.ts';
import { acceptTotpCode } from './totp/totp-store.ts';
import type { SealingKey } from '../../platform/sealing/sealing.ts';
import type { SignInLimits } from '../attempts/sign-in-limits.ts';

/**
 * A confirmed session has lately shown as much as a sign-in needs: the password or, where there is one, a second factor
 * (docs/design/identity.md).
 */

/**
 * Guard: a stolen session, or a browser left alone, can't change what protects the account.
 * @throws {Problem} confirmation_required
 */
export function requireConfirmed(_needs: unknown, { session }: SignedIn): void {
  if (session.is_confirmed) return;
  throw new Problem('confirmation_required', {
    detail: 'Confirm the session with POST /api/console/session/confirm, then try again.',
  });
}

type ProofNeeds = { query: Query; transact: Transact; counts: AttemptCounts; signInLimits: SignInLimits };

/**
 * Counts as a sign-in.
 * @throws {Problem} second_factor_required; invalid_request for the password; too_many_requests
 */
export async function confirmWithPassword(
  needs: PasswordCheck & { query: Query; transact: Transact },
  by: SignedIn,
  password: string,
  caller: Caller,
): Promise<void> {
  const { account_id, session } = by;
  await refuseWithFactor(needs.query, account_id);
  const { email, password_hash } = session.account;
  if (!(await isPasswordRight(needs, { email, password, password_hash }, caller))) {
    await recordConfirmationFailed(needs.query, by, { for: 'session', with: 'password' });
    throw invalidFields([{ field: 'password', message: 'is wrong' }]);
  }
  await needs.transact(async (inside) => {
    await lockAccount(inside, account_id);
    // A factor that was set up since.
    await refuseWithFactor(inside, account_id);
    await confirmAs(inside, by, 'password');
  });
}

/** @throws {Problem} invalid_request for the code; too_many_requests */
export function confirmWithTotp(
  needs: ProofNeeds & { sealingKeys: readonly SealingKey[] },
  by: SignedIn,
  code: string,
  { addressGroup: address }: Caller,
): Promise<void> {
  const { account_id: accountId } = by;
  const { password_hash: passwordHash } = by.session.account;
  return confirmWith(needs, by, {
    factor: 'totp',
    limits: totpAttempt(needs.signInLimits, { accountId, passwordHash, address }),
    prepare: () => {
      const use = { accountId, code, nowMs: Date.now(), keys: needs.sealingKeys };
      return Promise.resolve((inside) => acceptTotpCode(inside, use));
    },
    refused: wrongCode,
  });
}

/** Tells the owner by mail. @throws {Problem} invalid_request for the code; too_many_requests */
export async function confirmWithRecoveryCode(
  needs: ProofNeeds & { wakeMails: () => void },
  by: SignedIn,
  code: string,
  { addressGroup: address }: Caller,
): Promise<void> {
  const { account_id: accountId, actor } = by;
  const { email } = by.session.account;
  await confirmWith(needs, by, {
    factor: 'recovery_code',
    limits: unguessableAttempt(needs.signInLimits, { accountId, address }),
    prepare: () =>
      Promise.resolve((inside) => useRecoveryCode(inside, { accountId, email, code, by: actor })),
    refused: wrongCode,
  });
  needs.wakeMails();
}

/** @throws {Problem} invalid_request for the credential; passkeys_unavailable; too_many_requests */
export function confirmWithPasskey(
  needs: ProofNeeds & PasskeyNeeds,
  by: SignedIn,
  credential: Assertion,
  { addressGroup: address }: Caller,
): Promise<void> {
  const { account_id: accountId } = by;
  return confirmWith(needs, by, {
    factor: 'passkey',
    limits: unguessableAttempt(needs.signInLimits, { accountId, address }),
    prepare: async () => {
      const passkey = await verifyAssertion(needs, credential, { purpose: 'confirm', accountId });
      return (inside) => notePasskeyUse(inside, passkey);
    },
    refused: passkeyRefused,
  });
}

export function wrongCode(): Problem {
  return invalidFields([{ field: 'code', message: 'is wrong, expired or already used' }]);
}

type Proof = {
  factor: Factor;
  limits: AttemptLimit[];
  /** Returns what uses up the factor, within the transaction. @throws {Problem} invalid_request */
  prepare: () => Promise<(inside: Query) => Promise<boolean>>;
  refused: () => Problem;
};

/** Counts the attempt first, as a sign-in's second step does. */
async function confirmWith(
  needs: Omit<ProofNeeds, 'signInLimits'>,
  by: SignedIn,
  { factor, limits, prepare, refused }: Proof,
): Promise<void> {
  refuseExceeded(await needs.counts.take(limits));
  try {
    const accept = await prepare();
    await needs.transact(async (inside) => {
      await lockAccount(inside, by.account_id);
      if (!(await accept(inside))) throw refused();
      await confirmAs(inside, by, factor);
    });
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_request') {
      await recordConfirmationFailed(needs.query, by, { for: 'session', with: factor });
    }
    throw error;
  }
  await needs.counts.giveBack(limits);
}

async function confirmAs(inside: Query, by: SignedIn, proof: 'password' | Factor): Promise<void> {
  const { account_id, actor, session } = by;
  await confirmSession(inside, session.session_id);
  const entry = { ...actor, application_id: null, account_id, details: { with: proof } };
  await recordAudit(inside, { ...entry, action: 'session_confirmed' });
}

async function refuseWithFactor(query: Query, accountId: number): Promise<void> {
  if ((await factorsOf(query, accountId)).length === 0) return;
  throw new Problem('second_factor_required', {
    detail: 'Confirm the session with a code of the authenticator app, a passkey or a recovery code.',
  });
}
