import { recordAudit } from '../../platform/audit/audit-log.ts';
import { consumeEmailToken, endEmailTokens, findEmailToken } from '../people/email-tokens.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { endAllSessions } from '../sessions/session-store.ts';
import { lockAccount, setEmailVerified, setPasswordHash } from '../accounts/account-store.ts';
import { assertPasswordFits, unknownToken } from '../people/input.ts';
import { countMailRequest } from '../people/mail-limits.ts';
import type { PeopleParts, Stranger } from '../people/people.ts';

/** Has a link for a new password sent, where the address has an account. @throws {Problem} too_many_requests */
export async function requestPasswordReset(
  { query, counts, mailLimits, wakeMails }: PeopleParts,
  email: string,
  { addressGroup }: Stranger,
): Promise<void> {
  const request = { purpose: 'password_reset', recipient: email, address: addressGroup } as const;
  await countMailRequest(counts, mailLimits, request);
  await enqueueMail(query, { kind: 'password_reset', recipient: email });
  wakeMails();
}

/**
 * Sets a new password by a mail's link: all sessions and all other links of the account end, and its address
 * counts as verified. @throws {Problem} invalid_request for the token or the password
 */
export async function resetPassword(
  { query, transact, hasher, wakeMails }: PeopleParts,
  { token, password }: { token: string; password: string },
  { address, request_id }: Stranger,
): Promise<void> {
  // Looked up first, so that strangers' guesses at tokens cost no hash.
  const found = await findEmailToken(query, token);
  if (found?.purpose !== 'reset_password') throw unknownToken();
  assertPasswordFits('password', password, found.email);
  const passwordHash = await hasher.hash(password);
  const { account_id } = found;
  await transact(async (inside) => {
    // Before the token: two links of one account, both used at once, come one after the other.
    const account = await lockAccount(inside, account_id);
    if (account === undefined || !(await consumeEmailToken(inside, token))) throw unknownToken();
    await setPasswordHash(inside, account_id, passwordHash);
    await setEmailVerified(inside, account_id);
    await endAllSessions(inside, account_id);
    await endEmailTokens(inside, account_id);
    await recordAudit(inside, {
      actor: `account:${String(account_id)}`,
      address,
      request_id,
      application_id: null,
      account_id,
      action: 'password_reset',
      details: {},
    });
    await enqueueMail(inside, { kind: 'password_changed', recipient: account.email, account_id });
  });
  wakeMails();
}
