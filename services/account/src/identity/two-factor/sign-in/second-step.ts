import { Problem } from '@tollgate/http/problem';
import { recordAudit } from '../../../platform/audit/audit-log.ts';
import { enqueueMail } from '../../../mail/mail-outbox.ts';
import type { Query, Transact } from '../../../platform/database/query.ts';
import { findAccount, lockAccount } from '../../accounts/account-store.ts';
import type { Account } from '../../accounts/account.ts';
import { refuseExceeded } from '../../attempts/attempt-counts.ts';
import type { AttemptCounts, AttemptLimit } from '../../attempts/attempt-counts.ts';
import {
  passkeyAttempt,
  passkeyOptionsAttempt,
  totpAttempt,
  unguessableAttempt,
} from '../../attempts/second-step-limits.ts';
import type { TwoFactorMail } from '../two-factor-mails.ts';
import type { Caller } from '../../../http/caller-address.ts';
import { completeSignIn } from '../../sessions/complete-sign-in.ts';
import type { BegunSession, SignInBrowser } from '../../sessions/complete-sign-in.ts';
import { wrongCode } from '../confirmation.ts';
import type { Factor } from '../../sessions/factors.ts';
import { verifyAssertion } from '../passkeys/assertion.ts';
import type { PasskeyNeeds } from '../passkeys/assertion.ts';
import { passkeyRefused } from '../passkeys/input.ts';
import type { Assertion } from '../passkeys/input.ts';
import { notePasskeyUse } from '../passkeys/passkey-store.ts';
import { consumePendingSignIn, findPendingSignIn } from '../../sessions/pending-sign-ins.ts';
import { useRecoveryCode } from '../recovery-codes.ts';
import { acceptTotpCode } from '../totp/totp-store.ts';
import type { SealingKey } from '../../../platform/sealing/sealing.ts';
import type { SignInLimits } from '../../attempts/sign-in-limits.ts';
import type { SessionLifetimes } from '../../sessions/session-store.ts';

/** One mail and one audit record in this time, however many attempts are refused. */
const NOTICE_WINDOW_SEC = 3_600;

export type SecondStepRequest = { sign_in_token: string; browser: SignInBrowser; by: Caller };

type StepNeeds = {
  query: Query;
  transact: Transact;
  counts: AttemptCounts;
  signInLimits: SignInLimits;
  lifetimes: SessionLifetimes;
  wakeMails: () => void;
};

/** Completes a sign-in with a code of the authenticator app. @throws {Problem} as `complete` */
export function completeWithTotp(
  needs: StepNeeds & { sealingKeys: readonly SealingKey[] },
  { code, ...request }: SecondStepRequest & { code: string },
): Promise<BegunSession> {
  const { sealingKeys: keys } = needs;
  return complete(needs, request, {
    factor: 'totp',
    limits: ({ account_id: accountId, password_hash: passwordHash }) =>
      totpAttempt(needs.signInLimits, { accountId, passwordHash, address: request.by.addressGroup }),
    prepare: ({ account_id: accountId }) => {
      const use = { accountId, code, nowMs: Date.now(), keys };
      return Promise.resolve((inside) => acceptTotpCode(inside, use));
    },
    refused: wrongCode,
  });
}

/** Completes a sign-in with a recovery code, and tells the owner by mail. @throws {Problem} as `complete` */
export async function completeWithRecoveryCode(
  needs: StepNeeds,
  { code, ...request }: SecondStepRequest & { code: string },
): Promise<BegunSession> {
  const begun = await complete(needs, request, {
    factor: 'recovery_code',
    limits: ({ account_id: accountId }) =>
      unguessableAttempt(needs.signInLimits, { accountId, address: request.by.addressGroup }),
    prepare: ({ account_id, email }) =>
      Promise.resolve((inside) => {
        const { address, request_id } = request.by;
        const by = { actor: `account:${String(account_id)}`, address, request_id };
        return useRecoveryCode(inside, { accountId: account_id, email, code, by });
      }),
    refused: wrongCode,
  });
  needs.wakeMails();
  return begun;
}

/** Completes a sign-in with one of the account's passkeys. @throws {Problem} as `complete`; passkeys_unavailable */
export function completeWithPasskey(
  needs: StepNeeds & PasskeyNeeds,
  { credential, ...request }: SecondStepRequest & { credential: Assertion },
): Promise<BegunSession> {
  return complete(needs, request, {
    factor: 'passkey',
    limits: ({ account_id: accountId }) =>
      unguessableAttempt(needs.signInLimits, { accountId, address: request.by.addressGroup }),
    prepare: async ({ account_id: accountId }) => {
      const passkey = await verifyAssertion(needs, credential, { purpose: 'second_step', accountId });
      return (inside) => notePasskeyUse(inside, passkey);
    },
    refused: passkeyRefused,
  });
}

/**
 * Signs in with a passkey alone, which counts as both factors: the authenticator has verified its user.
 * @throws {Problem} invalid_request for the credential; passkeys_unavailable; too_many_requests
 */
export async function signInWithPasskey(
  needs: Omit<StepNeeds, 'wakeMails'> & PasskeyNeeds,
  { credential, browser, by }: Omit<SecondStepRequest, 'sign_in_token'> & { credential: Assertion },
): Promise<BegunSession> {
  const attempt = passkeyAttempt(needs.signInLimits, by.addressGroup);
  refuseExceeded(await needs.counts.take(attempt));
  const passkey = await verifyAssertion(needs, credential, { purpose: 'sign_in', accountId: null });
  const begun = await needs.transact(async (inside) => {
    const account = await lockAccount(inside, passkey.account_id);
    const isOwner = account !== undefined && account.email_verified_at !== null;
    if (!isOwner || !(await notePasskeyUse(inside, passkey))) throw passkeyRefused();
    const details = { factor: 'passkey' };
    return completeSignIn(inside, { account, browser, by, lifetimes: needs.lifetimes, details });
  });
  // Its challenge was counted, too.
  const challenge = passkeyOptionsAttempt(needs.signInLimits, by.addressGroup);
  await needs.counts.giveBack([...attempt, ...challenge]);
  return begun;
}

type Step = {
  factor: Factor;
  limits: (account: Account) => AttemptLimit[];
  /** Returns what verifies and uses up the factor, within the transaction of the sign-in. */
  prepare: (account: Account) => Promise<(inside: Query) => Promise<boolean>>;
  refused: () => Problem;
};

/**
 * Counts the attempt first, so that concurrent ones can't pass the limit. The token is consumed with the factor in one
 * transaction: a wrong code leaves the token valid, and of two right ones at once one signs in.
 * @throws {Problem} invalid_request for a wrong factor; unauthorized for the token; too_many_requests
 */
async function complete(
  needs: Omit<StepNeeds, 'signInLimits'>,
  { sign_in_token, browser, by }: SecondStepRequest,
  { factor, limits, prepare, refused }: Step,
): Promise<BegunSession> {
  const accountId = await findPendingSignIn(needs.query, sign_in_token);
  const found = accountId === undefined ? undefined : await findAccount(needs.query, accountId);
  if (found === undefined) throw signInExpired();
  const attempt = limits(found);
  await refuseLimited(needs, found, attempt, by);
  const accept = await prepare(found);
  const begun = await needs.transact(async (inside) => {
    const account = await lockAccount(inside, found.account_id);
    if (account === undefined || !(await consumePendingSignIn(inside, sign_in_token))) throw signInExpired();
    if (!(await accept(inside))) throw refused();
    const details = { second_factor: factor };
    return completeSignIn(inside, { account, browser, by, lifetimes: needs.lifetimes, details });
  });
  await needs.counts.giveBack(attempt);
  return begun;
}

/** The owner learns that someone knows the password. @throws {Problem} too_many_requests */
async function refuseLimited(
  { counts, transact, wakeMails }: Pick<StepNeeds, 'counts' | 'transact' | 'wakeMails'>,
  { account_id, email }: Account,
  attempt: AttemptLimit[],
  { address, request_id }: Caller,
): Promise<void> {
  const taken = await counts.take(attempt);
  if (taken.exceeded.length === 0) return;
  const notice = {
    subject: `second step notice ${String(account_id)}`,
    max: 1,
    windowSec: NOTICE_WINDOW_SEC,
  };
  if ((await counts.take([notice])).exceeded.length === 0) {
    await transact(async (inside) => {
      const by = { actor: 'unknown', address, request_id, application_id: null, account_id };
      await recordAudit(inside, { ...by, action: 'sign_in_limited', details: { step: 'second' } });
      const mail: TwoFactorMail = { kind: 'second_step_limited', recipient: email, account_id };
      await enqueueMail(inside, mail);
    });
    wakeMails();
  }
  refuseExceeded(taken);
}

/** The password has to be entered again. */
export function signInExpired(): Problem {
  return new Problem('unauthorized', { detail: 'The sign-in has expired. Enter your password again.' });
}
