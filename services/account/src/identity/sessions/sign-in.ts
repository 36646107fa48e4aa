import { Problem } from '@tollgate/http/problem';
import { refuseExceeded } from '../attempts/attempt-counts.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { isOutdated } from '../passwords/password.ts';
import type { HashCaller } from '../passwords/password-hasher.ts';
import type { PasswordCheck } from '../passwords/password-attempt.ts';
import type { Account } from '../accounts/account.ts';
import { findAccountByEmail, lockAccount, setPasswordHash } from '../accounts/account-store.ts';
import { factorsOf } from './factors.ts';
import type { Factor } from './factors.ts';
import { beginPendingSignIn } from './pending-sign-ins.ts';
import type { PendingSignIn } from './pending-sign-ins.ts';
import type { Caller } from '../../http/caller-address.ts';
import { completeSignIn } from './complete-sign-in.ts';
import type { BegunSession, SignInBrowser } from './complete-sign-in.ts';
import type { SessionLifetimes } from './session-store.ts';
import { isFromQuietNetwork, passwordAttempt } from '../attempts/sign-in-limits.ts';

export type SignInNeeds = PasswordCheck & {
  query: Query;
  transact: Transact;
  lifetimes: SessionLifetimes;
};

export type SignInRequest = SignInBrowser & { email: string; password: string };

/** The second step that an account with a second factor needs; there is no session yet. */
export type SecondStep = PendingSignIn & { factors: Factor[] };

/** The hash changes between two reads only if a concurrent request upgrades or replaces it. */
const LOOKS = 2;

/**
 * An unknown address, an account without a password, a wrong password and an unverified address get the same response
 * at the same cost, one verification. A blocked account may sign in, to read and to pay. An account with a second
 * factor gets a second step instead of a session (docs/design/identity.md).
 * @throws {Problem} invalid_credentials; too_many_requests; service_unavailable
 */
export async function signIn(
  needs: SignInNeeds,
  request: SignInRequest,
  by: Caller,
): Promise<BegunSession | SecondStep> {
  const { query, counts, signInLimits, slowDown } = needs;
  const { email } = request;
  const attempt = passwordAttempt(signInLimits, { account: email, address: by.address });
  const taken = await counts.take(attempt);
  // Only the first refusal goes to the account's audit log; more would fill it.
  if (taken.exceeded.includes(attempt[0]) && taken.counts[0] === signInLimits.perAccountAndAddress + 1) {
    // Not awaited: the time of the refusal would tell whether the address has an account.
    recordLimited(query, email, by).catch(() => undefined);
  }
  refuseExceeded(taken);
  await slowDown(taken.counts[2] ?? 0, by.addressGroup);
  const caller = { addressGroup: by.addressGroup, isTrusted: isFromQuietNetwork(attempt, taken) };
  for (let look = 0; look < LOOKS; look += 1) {
    const account = await findAccountByEmail(query, email);
    if (!(await isPasswordOf(needs, account, request.password, caller)) || account === undefined) break;
    const upgraded = isOutdated(account.password_hash)
      ? await needs.hasher.hash(request.password, caller)
      : undefined;
    const begun = await beginIfUnchanged(needs, { account, upgraded, request, by });
    if (begun === undefined) continue;
    await counts.giveBack(attempt);
    return begun;
  }
  throw new Problem('invalid_credentials', { detail: 'The email address or the password is wrong.' });
}

async function isPasswordOf(
  { hasher }: Pick<SignInNeeds, 'hasher'>,
  account: Account | undefined,
  password: string,
  caller: HashCaller,
): Promise<boolean> {
  const isRight = await hasher.verify(password, account?.password_hash, caller);
  return isRight && account?.email_verified_at !== null;
}

/** Waits for a concurrent change of password; a later one ends this session with the others. */
function beginIfUnchanged(
  { transact, lifetimes }: Pick<SignInNeeds, 'transact' | 'lifetimes'>,
  step: { account: Account; upgraded: string | undefined; request: SignInRequest; by: Caller },
): Promise<BegunSession | SecondStep | undefined> {
  const { upgraded, request, by } = step;
  const { account_id, password_hash } = step.account;
  return transact(async (inside) => {
    const account = await lockAccount(inside, account_id);
    if (account?.password_hash !== password_hash) return undefined;
    if (upgraded !== undefined) await setPasswordHash(inside, account_id, upgraded);
    const factors = await factorsOf(inside, account_id);
    if (factors.length > 0) return { ...(await beginPendingSignIn(inside, account_id)), factors };
    return completeSignIn(inside, { account, browser: request, by, lifetimes, details: {} });
  });
}

async function recordLimited(query: Query, email: string, { address, request_id }: Caller): Promise<void> {
  const account = await findAccountByEmail(query, email);
  if (account === undefined) return;
  await recordAudit(query, {
    actor: 'unknown',
    address,
    request_id,
    application_id: null,
    account_id: account.account_id,
    action: 'sign_in_limited',
    details: {},
  });
}
