import type { MailSite } from '../../mail/layout/mail-content.ts';
import type { MailRenderers } from '../../mail/mail-renderer.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { reasonOfLatest } from '../../platform/audit/reason-of-latest.ts';
import { findAccountByEmail } from '../accounts/account-store.ts';
import { issueEmailToken, issueTokenOfMail, newestSignUp } from './email-tokens.ts';
import type { EmailToken } from './email-tokens.ts';
import {
  alreadySignedUpMail,
  emailChangeBySupportMail,
  emailChangedMail,
  emailInUseMail,
  passwordChangedMail,
  resetPasswordMail,
  verifyNewEmailMail,
  verifySignUpMail,
} from './mail-text.ts';
import type { Query } from '../../platform/database/query.ts';

export type IdentityMail =
  | { kind: 'sign_up'; recipient: string; name: string }
  | { kind: 'sign_up_again'; recipient: string }
  | {
      kind: 'password_reset';
      recipient: string;
      request_address: string | null;
      request_id: string | null;
    }
  | {
      kind: 'email_change' | 'email_change_by_support' | 'password_changed' | 'email_changed';
      recipient: string;
      account_id: number;
    };

/**
 * Whether an address has an account is looked up here, not in the request, so that neither its response nor its
 * duration tells. Links are created here so that tokens are stored only as hashes; each attempt sends another link.
 */
export const identityMails: MailRenderers<IdentityMail> = {
  sign_up: (query, { recipient, name }, site) =>
    signUpMail(query, recipient, site, { purpose: 'sign_up', email: recipient, name }),
  sign_up_again: async (query, { recipient }, site) =>
    signUpMail(query, recipient, site, await newestSignUp(query, recipient)),
  password_reset: async (query, { recipient, attempts, request_address, request_id }, site) => {
    const account = await findAccountByEmail(query, recipient);
    if (account === undefined) return undefined;
    const { account_id, email } = account;
    if (attempts === 0) {
      await recordAudit(query, {
        actor: 'unknown',
        address: request_address ?? 'unknown',
        request_id: request_id ?? 'unknown',
        application_id: null,
        account_id,
        action: 'password_reset_requested',
        details: {},
      });
    }
    const token = await issueEmailToken(query, { purpose: 'reset_password', email, account_id });
    return resetPasswordMail(email, `${site.publicUrl}/user/reset-password?token=${token}`, site);
  },
  email_change: async (query, { mail_id, recipient, account_id }, site) => {
    if ((await findAccountByEmail(query, recipient)) !== undefined) return emailInUseMail(recipient, site);
    const link = { purpose: 'change_email', email: recipient, account_id } as const;
    const token = await issueTokenOfMail(query, mail_id, link);
    if (token === undefined) return undefined;
    return verifyNewEmailMail(recipient, verifyLink(site, token), site);
  },
  email_change_by_support: async (query, { recipient, account_id }, site) =>
    emailChangeBySupportMail(
      recipient,
      await reasonOfLatest(query, account_id, 'email_change_requested'),
      site,
    ),
  password_changed: (_query, { recipient }, site) => Promise.resolve(passwordChangedMail(recipient, site)),
  email_changed: (_query, { recipient }, site) => Promise.resolve(emailChangedMail(recipient, site)),
};

async function signUpMail(query: Query, recipient: string, site: MailSite, signUp: EmailToken | undefined) {
  if ((await findAccountByEmail(query, recipient)) !== undefined) {
    return alreadySignedUpMail(recipient, site);
  }
  if (signUp === undefined) return undefined;
  const token = await issueEmailToken(query, signUp);
  // The page asks for a password at once. First, so that a link that was cut tells it too.
  return verifySignUpMail(recipient, `${site.publicUrl}/user/verify-email?for=sign-up&token=${token}`, site);
}

function verifyLink({ publicUrl }: MailSite, token: string): string {
  return `${publicUrl}/user/verify-email?for=email-change&token=${token}`;
}
