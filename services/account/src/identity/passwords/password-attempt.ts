import { refuseExceeded } from '../attempts/attempt-counts.ts';
import type { AttemptCounts } from '../attempts/attempt-counts.ts';
import { isFromQuietNetwork, passwordAttempt } from '../attempts/sign-in-limits.ts';
import type { SignInLimits, SlowDown } from '../attempts/sign-in-limits.ts';
import type { Caller } from '../../http/caller-address.ts';
import type { PasswordHasher } from './password-hasher.ts';

/** What a check of a password takes. */
export type PasswordCheck = {
  hasher: PasswordHasher;
  counts: AttemptCounts;
  signInLimits: SignInLimits;
  slowDown: SlowDown;
};

/** Counts as a sign-in, so it is no way around that limit. @throws {Problem} too_many_requests; service_unavailable */
export async function isPasswordRight(
  { counts, signInLimits, slowDown, hasher }: PasswordCheck,
  { email, password, password_hash }: { email: string; password: string; password_hash: string },
  { address, addressGroup }: Caller,
): Promise<boolean> {
  const attempt = passwordAttempt(signInLimits, { account: email, address });
  const taken = await counts.take(attempt);
  refuseExceeded(taken);
  await slowDown(taken.counts[2] ?? 0, addressGroup);
  const caller = { addressGroup, isTrusted: isFromQuietNetwork(attempt, taken) };
  if (!(await hasher.verify(password, password_hash, caller))) return false;
  await counts.giveBack(attempt);
  return true;
}
