import { refuseExceeded } from '../attempts/attempt-counts.ts';
import type { SignInParts } from '../sessions/sign-in.ts';
import { passwordAttempt } from '../sessions/sign-in-limits.ts';
import type { Stranger } from '../people/people.ts';

/**
 * Whether a password is the one of a stored hash, outside of signing in. Attempts are counted like those to sign
 * in, so that this is no way around their limit.
 *
 * @throws {Problem} too_many_requests; service_unavailable
 */
export async function isPasswordRight(
  { counts, signInLimits, slowDown, hasher }: SignInParts,
  { email, password, password_hash }: { email: string; password: string; password_hash: string },
  { addressGroup }: Stranger,
): Promise<boolean> {
  const attempt = passwordAttempt(signInLimits, { account: email, address: addressGroup });
  const taken = await counts.take(attempt);
  refuseExceeded(taken);
  await slowDown(taken.counts[2] ?? 0);
  if (!(await hasher.verify(password, password_hash))) return false;
  await counts.giveBack(attempt);
  return true;
}
