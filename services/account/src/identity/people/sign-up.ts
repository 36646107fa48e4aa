import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { consumeEmailToken, endEmailTokens, endSignUps, findEmailToken } from './email-tokens.ts';
import type { EmailToken } from './email-tokens.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import type { Query } from '../../platform/database/query.ts';
import { insertAccount, lockAccount, setEmail } from '../accounts/account-store.ts';
import { missingSignUpPassword, unknownToken, wrongSignUpPassword } from './input.ts';
import { countMailRequest } from './mail-limits.ts';
import { isPasswordRight } from '../passwords/password-attempt.ts';
import type { PeopleParts, Stranger } from './people.ts';
import type { SignInParts } from '../sessions/sign-in.ts';
import { isUniqueViolation } from '../../platform/database/query.ts';

/**
 * Takes a sign-up. There is no account before its mail's link is used: until then nobody holds the address, and
 * of several sign-ups with one address that one becomes the account whose link its owner uses. Whether the
 * address has an account already is neither asked nor told here (prepare-mail.ts).
 *
 * @throws {Problem} too_many_requests, service_unavailable
 */
export async function signUp(
  { query, hasher, counts, mailLimits, wakeMails }: PeopleParts,
  { email, name, password }: { email: string; name: string; password: string },
  { addressGroup }: Stranger,
): Promise<void> {
  await countMailRequest(counts, mailLimits, { purpose: 'sign_up', recipient: email, address: addressGroup });
  const password_hash = await hasher.hash(password);
  await enqueueMail(query, { kind: 'sign_up', recipient: email, name, password_hash });
  wakeMails();
}

/** Sends the link of a sign-up again. @throws {Problem} too_many_requests */
export async function sendSignUpAgain(
  { query, counts, mailLimits, wakeMails }: PeopleParts,
  email: string,
  { addressGroup }: Stranger,
): Promise<void> {
  await countMailRequest(counts, mailLimits, { purpose: 'sign_up', recipient: email, address: addressGroup });
  await enqueueMail(query, { kind: 'sign_up_again', recipient: email });
  wakeMails();
}

/**
 * Uses the link of a sign-up, which makes the account, or of a new e-mail address, which takes the old one's
 * place. Answers the address that is verified now.
 *
 * A sign-up's link needs that sign-up's password as well. Without it a stranger could sign up with an address that
 * isn't theirs, have its owner use the link, and sign in to the owner's account with the password they chose.
 *
 * @throws {Problem} invalid_request for a token that is unknown, used or expired, or whose address has become
 *   that of another account; for a password that is missing or not the sign-up's. too_many_requests
 */
export async function verifyEmail(
  parts: SignInParts,
  { token, password }: { token: string; password?: string | undefined },
  by: Stranger,
): Promise<string> {
  const { query, transact, wakeMails } = parts;
  const found = await findEmailToken(query, token);
  if (found === undefined || found.purpose === 'reset_password') throw unknownToken();
  if (found.purpose === 'sign_up') await assertPasswordOfSignUp(parts, found, password, by);
  try {
    await transact((inside) =>
      found.purpose === 'sign_up'
        ? createAccount(inside, token, found, by)
        : changeEmail(inside, token, found, by),
    );
  } catch (error) {
    if (isUniqueViolation(error)) throw unknownToken();
    throw error;
  }
  wakeMails();
  return found.email;
}

async function assertPasswordOfSignUp(
  parts: SignInParts,
  { email, password_hash }: Extract<EmailToken, { purpose: 'sign_up' }>,
  password: string | undefined,
  by: Stranger,
): Promise<void> {
  if (password === undefined) throw missingSignUpPassword();
  if (!(await isPasswordRight(parts, { email, password, password_hash }, by))) throw wrongSignUpPassword();
}

/**
 * The token is used up last: of two links of one address, both used at once, the unique index lets one through,
 * and neither waits for a row that the other has locked.
 */
async function createAccount(
  query: Query,
  token: string,
  signUp: Extract<EmailToken, { purpose: 'sign_up' }>,
  by: Stranger,
): Promise<void> {
  const { email, name, password_hash } = signUp;
  const account_id = await insertAccount(query, { email, name, password_hash });
  if (account_id === undefined || !(await consumeEmailToken(query, token))) throw unknownToken();
  await endSignUps(query, email);
  await recordAudit(query, {
    ...actor(account_id, by),
    application_id: null,
    account_id,
    action: 'account_created',
    details: { email },
  });
}

async function changeEmail(
  query: Query,
  token: string,
  { email, account_id }: Extract<EmailToken, { purpose: 'change_email' | 'reset_password' }>,
  by: Stranger,
): Promise<void> {
  const before = await lockAccount(query, account_id);
  if (before === undefined || !(await consumeEmailToken(query, token))) throw unknownToken();
  await setEmail(query, account_id, email);
  await endEmailTokens(query, account_id);
  await recordAudit(query, {
    ...actor(account_id, by),
    application_id: null,
    account_id,
    action: 'email_changed',
    details: { email_before: before.email, email },
  });
  await enqueueMail(query, { kind: 'email_changed', recipient: before.email, account_id });
}

function actor(accountId: number, { address, request_id }: Stranger): Actor {
  return { actor: `account:${String(accountId)}`, address, request_id };
}
