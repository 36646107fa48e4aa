import type { MailContent, MailSite } from '../../mail/layout/mail-content.ts';
import type { MailRenderers } from '../../mail/mail-renderer.ts';
import { reasonOfLatest } from '../../platform/audit/reason-of-latest.ts';
import { countRecoveryCodes } from './recovery-codes.ts';

type Kind =
  | 'totp_added'
  | 'totp_removed'
  | 'passkey_added'
  | 'passkey_removed'
  | 'recovery_codes_renewed'
  | 'recovery_code_used'
  | 'two_factor_reset'
  | 'second_step_limited';

/** Tells the owner what changed about signing in, at the address that the account had then. */
export type TwoFactorMail = { kind: Kind; recipient: string; account_id: number };

/** A change by someone else means that they know the password. */
const IF_NOT_YOU = "If you did this, there's nothing else to do. If you didn't, reset your password now.";

export const twoFactorMails: MailRenderers<TwoFactorMail> = {
  totp_added: mailOf('Authenticator app added', (account) => [
    `An authenticator app was added to your ${account}. Signing in with your password now takes a second step. All other sessions were signed out.`,
    IF_NOT_YOU,
  ]),
  totp_removed: mailOf('Authenticator app removed', (account) => [
    `The authenticator app was removed from your ${account}. Its codes no longer work.`,
    IF_NOT_YOU,
  ]),
  passkey_added: mailOf('Passkey added', (account) => [
    `A passkey was added to your ${account}. It can sign in without your password. All other sessions were signed out.`,
    IF_NOT_YOU,
  ]),
  passkey_removed: mailOf('Passkey removed', (account) => [
    `A passkey was removed from your ${account}. It can no longer sign in.`,
    IF_NOT_YOU,
  ]),
  recovery_codes_renewed: mailOf('New recovery codes', (account) => [
    `New recovery codes were generated for your ${account}. The former ones no longer work.`,
    IF_NOT_YOU,
  ]),
  second_step_limited: mailOf('Sign-in stopped at the second step', (account) => [
    `Someone entered the right password for your ${account}, and then too many wrong codes. They were not signed in.`,
    "If it wasn't you, someone else knows your password. Reset it now.",
  ]),
  recovery_code_used: async (query, { recipient, account_id }, site) => {
    const left = await countRecoveryCodes(query, account_id);
    const mail = mailOf('Recovery code used', (account) => [
      `A recovery code was used to sign in to your ${account}, or to confirm a session. ${left === 1 ? '1 unused code is' : `${String(left)} unused codes are`} left. You can generate new ones on the page Security.`,
      IF_NOT_YOU,
    ]);
    return mail(query, { recipient }, site);
  },
  two_factor_reset: async (query, { recipient, account_id }, { productName, publicUrl, supportUrl }) => {
    const reason = await reasonOfLatest(query, account_id, 'two_factor_reset');
    return {
      to: recipient,
      subject: 'Two-factor authentication was reset',
      lines: [
        `Support turned off two-factor authentication for your ${productName} account, and removed its authenticator app, passkeys and recovery codes. Your password is now enough to sign in. All sessions were signed out.`,
        "Set it up again on the page Security. If you didn't ask for this, reset your password and contact support immediately.",
      ],
      facts: [
        ...(reason === undefined ? [] : [['Reason given by support', reason] as const]),
        ...(supportUrl === null ? [] : [['Support', supportUrl] as const]),
      ],
      action: { label: 'Open your account', href: `${publicUrl}/user/account/security` },
    };
  },
};

function mailOf(subject: string, linesOf: (account: string) => readonly string[]) {
  return (
    _query: unknown,
    { recipient }: { recipient: string },
    { productName, publicUrl }: MailSite,
  ): Promise<MailContent> =>
    Promise.resolve({
      to: recipient,
      subject,
      lines: linesOf(`${productName} account`),
      action: { label: 'Reset password', href: `${publicUrl}/user/forgot-password` },
    });
}
