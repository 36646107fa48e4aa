import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { isUniqueViolation } from '../../platform/database/query.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { insertAccount, lockAccount, setEmail } from '../accounts/account-store.ts';
import { countMailRequest } from '../attempts/mail-limits.ts';
import type { RequestedMails } from '../attempts/mail-limits.ts';
import { consumeEmailToken, endEmailTokens, endSignUps, findEmailToken } from '../mails/email-tokens.ts';
import type { EmailToken } from '../mails/email-tokens.ts';
import type { IdentityMail } from '../mails/identity-mails.ts';
import { assertPasswordFits } from '../passwords/input.ts';
import type { PasswordHasher } from '../passwords/password-hasher.ts';
import type { Caller } from '../../http/caller-address.ts';
import { refuseIfSsoRequired } from '../sessions/required-sso.ts';
import { missingSignUpPassword, unknownToken } from './input.ts';
import type { SignUpPlan } from './people.ts';

/**
 * The account is created when the mailed link is used, so no address can be reserved. The response never tells
 * whether the address has an account (identity-mails.ts). @throws {Problem} too_many_requests
 */
export async function signUp(
  { query, counts, mailLimits, wakeMails }: RequestedMails & { query: Query },
  { email, name }: { email: string; name: string },
  { addressGroup }: Caller,
): Promise<void> {
  await countMailRequest(counts, mailLimits, {
    purpose: 'sign_up',
    recipient: email,
    address: addressGroup,
    accountId: null,
  });
  const mail: IdentityMail = { kind: 'sign_up', recipient: email, name };
  await enqueueMail(query, mail);
  wakeMails();
}

/** Sends the link of a sign-up again. @throws {Problem} too_many_requests */
export async function sendSignUpAgain(
  { query, counts, mailLimits, wakeMails }: RequestedMails & { query: Query },
  email: string,
  { addressGroup }: Caller,
): Promise<void> {
  await countMailRequest(counts, mailLimits, {
    purpose: 'sign_up',
    recipient: email,
    address: addressGroup,
    accountId: null,
  });
  await enqueueMail(query, { kind: 'sign_up_again', recipient: email } satisfies IdentityMail);
  wakeMails();
}

/**
 * Uses the link of a sign-up, which creates the account, or of a change of address. Returns the verified address.
 * A sign-up's password is chosen here, not before: a stranger could sign up with another person's address, have its
 * owner use the link, and sign in to the owner's account with a password of their choice.
 * @throws {Problem} invalid_request for an invalid token, a missing or unfit password, or an address taken meanwhile;
 * service_unavailable
 */
export async function verifyEmail(
  {
    query,
    transact,
    hasher,
    wakeMails,
    signUpPlan,
  }: {
    query: Query;
    transact: Transact;
    hasher: PasswordHasher;
    wakeMails: () => void;
    /** Null without SIGN_UP_PLAN. */
    signUpPlan: SignUpPlan | null;
  },
  { token, password }: { token: string; password?: string | undefined },
  caller: Caller,
): Promise<string> {
  const found = await findEmailToken(query, token);
  if (found === undefined || found.purpose === 'reset_password') throw unknownToken();
  try {
    let created: number | undefined;
    if (found.purpose === 'sign_up') {
      const password_hash = await hashOfChosen(hasher, found.email, password, caller);
      created = await transact((inside) =>
        createAccount(inside, token, { ...found, password_hash }, { caller, signUpPlan }),
      );
    } else await transact((inside) => changeEmail(inside, token, found, caller));
    if (created !== undefined) await signUpPlan?.start(created);
  } catch (error) {
    if (isUniqueViolation(error)) throw unknownToken();
    throw error;
  }
  wakeMails();
  return found.email;
}

/** Computed after the token was found, so that guessed tokens cost no hash. */
function hashOfChosen(
  hasher: PasswordHasher,
  email: string,
  password: string | undefined,
  { addressGroup }: Caller,
): Promise<string> {
  if (password === undefined) throw missingSignUpPassword();
  assertPasswordFits('password', password, email);
  return hasher.hash(password, { addressGroup, isTrusted: true });
}

/** Consumes the token last: of two links used at once, the unique index picks one; neither waits for a locked token. */
async function createAccount(
  query: Query,
  token: string,
  signUp: Extract<EmailToken, { purpose: 'sign_up' }> & { password_hash: string },
  { caller, signUpPlan }: { caller: Caller; signUpPlan: SignUpPlan | null },
): Promise<number> {
  const { email, name, password_hash } = signUp;
  const account_id = await insertAccount(query, { email, name, password_hash });
  if (account_id === undefined || !(await consumeEmailToken(query, token))) throw unknownToken();
  await endSignUps(query, email);
  await recordAudit(query, {
    ...ownerActor(account_id, caller),
    application_id: null,
    account_id,
    action: 'account_created',
    details: { email },
  });
  await signUpPlan?.record(query, account_id);
  return account_id;
}

async function changeEmail(
  query: Query,
  token: string,
  { email, account_id }: Extract<EmailToken, { purpose: 'change_email' | 'reset_password' }>,
  caller: Caller,
): Promise<undefined> {
  const before = await lockAccount(query, account_id);
  if (before === undefined || !(await consumeEmailToken(query, token))) throw unknownToken();
  await refuseIfSsoRequired(query, account_id);
  await setEmail(query, account_id, email);
  await endEmailTokens(query, account_id);
  await recordAudit(query, {
    ...ownerActor(account_id, caller),
    application_id: null,
    account_id,
    action: 'email_changed',
    details: { email_before: before.email, email },
  });
  const mail: IdentityMail = { kind: 'email_changed', recipient: before.email, account_id };
  await enqueueMail(query, mail);
}

function ownerActor(accountId: number, { address, request_id }: Caller): Actor {
  return { actor: `account:${String(accountId)}`, address, request_id };
}
