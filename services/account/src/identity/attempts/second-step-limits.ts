import type { AttemptLimit } from './attempt-counts.ts';
import type { SignInLimits } from './sign-in-limits.ts';

/**
 * Wrong TOTP codes of an account, from all addresses. Unlike a password's, a code's guesses need a maximum: there are
 * only a million codes, of which three are right at a time.
 */
const ACCOUNT_MAX = 30;
const ACCOUNT_WINDOW_SEC = 3_600;

type Attempt = { accountId: number; passwordHash: string; address: string };

/**
 * Limits for one code of an authenticator app. Only someone who knows the password gets this far, so a stranger can't
 * use up the account's maximum; a new password starts a new count, and a passkey or a recovery code passes.
 */
export function totpAttempt(
  limits: SignInLimits,
  { accountId, passwordHash, address }: Attempt,
): AttemptLimit[] {
  const account = `second step totp account ${String(accountId)}`;
  return [
    ...addressLimits(limits, account, address),
    { subject: `${account} password ${passwordHash}`, max: ACCOUNT_MAX, windowSec: ACCOUNT_WINDOW_SEC },
  ];
}

/** Recovery codes and passkeys can't be guessed; the limits only bound the work for wrong ones. */
export function unguessableAttempt(
  limits: SignInLimits,
  { accountId, address }: Pick<Attempt, 'accountId' | 'address'>,
): AttemptLimit[] {
  return addressLimits(limits, `second step account ${String(accountId)}`, address);
}

/** A passkey without a password: its account is known only once it has been verified. */
export function passkeyAttempt(limits: SignInLimits, address: string): AttemptLimit[] {
  return [{ subject: `sign-in address ${address}`, max: limits.perAddress, windowSec: limits.windowSec }];
}

/** Each open sign-in page asks for a challenge, so these must not use up what failed sign-ins may. */
export function passkeyOptionsAttempt(limits: SignInLimits, address: string): AttemptLimit[] {
  return [{ subject: `passkey options ${address}`, max: limits.perAddress, windowSec: limits.windowSec }];
}

function addressLimits(
  { windowSec, perAccountAndAddress, perAddress }: SignInLimits,
  account: string,
  address: string,
): AttemptLimit[] {
  return [
    { subject: `${account} address ${address}`, max: perAccountAndAddress, windowSec },
    { subject: `sign-in address ${address}`, max: perAddress, windowSec },
  ];
}
