import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Account } from '../accounts/account.ts';
import { newSecretToken } from '../secret-token.ts';
import type { Caller } from '../../http/caller-address.ts';
import { beginSession, endSessionOfToken } from './session-store.ts';
import type { LiveSession, SessionLifetimes } from './session-store.ts';

export type SignInBrowser = {
  userAgent: string;
  /** The browser's previous session, which ends. */
  previousToken: string | undefined;
};

export type BegunSession = { token: string; session: LiveSession };

/** The last step of every sign-in. `inside` is a transaction's, and the account is locked. */
export async function completeSignIn(
  inside: Query,
  signIn: {
    account: Account;
    browser: SignInBrowser;
    by: Caller;
    lifetimes: SessionLifetimes;
    details: Readonly<Record<string, string>>;
    ssoIdentityId?: number;
  },
): Promise<BegunSession> {
  const { account, browser, by, lifetimes, details, ssoIdentityId } = signIn;
  const { account_id } = account;
  // Never the browser's previous token: an attacker may have set it (session fixation).
  if (browser.previousToken !== undefined) await endSessionOfToken(inside, browser.previousToken);
  const token = newSecretToken();
  const origin = { address: by.address, userAgent: browser.userAgent };
  const session = await beginSession(inside, account_id, token, origin, lifetimes, { ssoIdentityId });
  await recordAudit(inside, {
    actor: `account:${String(account_id)}`,
    address: by.address,
    request_id: by.request_id,
    application_id: null,
    account_id,
    action: 'signed_in',
    details,
  });
  return { token, session: { ...session, account } };
}
