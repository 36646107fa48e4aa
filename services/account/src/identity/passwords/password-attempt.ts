import { refuseExceeded } from '../attempts/attempt-counts.ts';
import type { AttemptCounts } from '../attempts/attempt-counts.ts';
import { passwordAttempt } from '../attempts/sign-in-limits.ts';
import type { SignInLimits, SlowDown } from '../attempts/sign-in-limits.ts';
import type { PasswordHasher } from './password-hasher.ts';

export type PasswordCheckParts = {
  hasher: PasswordHasher;
  counts: AttemptCounts;
  signInLimits: SignInLimits;
  slowDown: SlowDown;
};

/** Counts as a sign-in, so it is no way around that limit. @throws {Problem} too_many_requests; service_unavailable */
export async function isPasswordRight(
  { counts, signInLimits, slowDown, hasher }: PasswordCheckParts,
  { email, password, password_hash }: { email: string; password: string; password_hash: string },
  addressGroup: string,
): Promise<boolean> {
  const attempt = passwordAttempt(signInLimits, { account: email, address: addressGroup });
  const taken = await counts.take(attempt);
  refuseExceeded(taken);
  await slowDown(taken.counts[2] ?? 0);
  if (!(await hasher.verify(password, password_hash))) return false;
  await counts.giveBack(attempt);
  return true;
}
