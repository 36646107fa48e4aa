import { findAccount } from '../../identity/accounts/account-store.ts';
import { issueEmailToken } from '../../identity/mails/email-tokens.ts';
import { NO_PASSWORD } from '../../identity/no-password.ts';
import type { MailRenderers } from '../../mail/mail-renderer.ts';

export type ProvisioningMail =
  | { kind: 'team_user_provisioned' | 'team_provisioning_ended'; recipient: string; account_id: number }
  /** `name`: the days that the token has left. */
  | { kind: 'team_provisioning_token_ends'; recipient: string; account_id: number; name: string };

export const provisioningMails: MailRenderers<ProvisioningMail> = {
  team_user_provisioned: (_query, { recipient }, { publicUrl, productName }) =>
    Promise.resolve({
      to: recipient,
      subject: 'Your company has added you to its team',
      lines: [
        `Your company's directory has added you to its team on ${productName}. The team pays for your calls.`,
        'If you have no password yet, choose one with Forgot password on the sign-in page.',
      ],
      action: { label: 'Sign in', href: `${publicUrl}/user/sign-in` },
    }),
  team_provisioning_ended: async (query, { recipient, account_id }, { publicUrl, productName }) => {
    const account = await findAccount(query, account_id);
    if (account?.password_hash !== NO_PASSWORD) return undefined;
    const token = await issueEmailToken(query, {
      purpose: 'reset_password',
      email: account.email,
      account_id,
    });
    return {
      to: recipient,
      subject: 'Choose a password',
      lines: [
        `Your company's directory no longer manages who is in its team on ${productName}. You stay in the team, and your account is yours.`,
        'It has no password yet. The link works for an hour; later, choose Forgot password on the sign-in page.',
      ],
      action: { label: 'Choose a password', href: `${publicUrl}/user/reset-password?token=${token}` },
    };
  },
  team_provisioning_token_ends: (_query, { recipient, name: days }, { publicUrl, productName }) =>
    Promise.resolve({
      to: recipient,
      subject: `The provisioning token of your team ends in ${daysText(days)}`,
      lines: [
        `The token with which your company's directory provisions your team on ${productName} ends in ${daysText(days)}. After that the directory can neither add nor remove anyone.`,
        'Create another token, give it to your directory, and revoke this one.',
      ],
      action: { label: 'Go to your team', href: `${publicUrl}/user/team` },
    }),
};

const daysText = (days: string) => (days === '1' ? 'a day' : `${days} days`);
