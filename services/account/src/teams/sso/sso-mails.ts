import { issueEmailToken } from '../../identity/mails/email-tokens.ts';
import type { MailRenderers } from '../../mail/mail-renderer.ts';
import type { PasswordLinkMail } from '../sso-ends.ts';

type Kind = 'team_sso_required' | 'team_sso_lifted' | 'team_sso_linked';

/** Without the team's name, which a stranger can have typed. */
export type SsoMail = {
  [Each in Kind]: { kind: Each; recipient: string; account_id: number };
}[Kind];

export const ssoMails: MailRenderers<SsoMail | PasswordLinkMail> = {
  team_sso_required: (_query, { recipient }, { publicUrl, productName }) =>
    Promise.resolve({
      to: recipient,
      subject: 'Your team now requires single sign-on',
      lines: [
        `From now on, you sign in to ${productName} with the account that you have at your company. Your password alone is no longer enough, and your other sessions have ended.`,
        'Your applications and tokens keep working.',
      ],
      action: { label: 'Sign in', href: `${publicUrl}/user/sso` },
    }),
  team_sso_lifted: (_query, { recipient }, { publicUrl, productName }) =>
    Promise.resolve({
      to: recipient,
      subject: 'Your team no longer requires single sign-on',
      lines: [
        `The support of ${productName} has lifted the requirement, so that members of your team can sign in with their passwords.`,
        'If your team has not asked for this, contact support. You can require single sign-on again on the Team page.',
      ],
      action: { label: 'Go to your team', href: `${publicUrl}/user/team` },
    }),
  team_sso_linked: (_query, { recipient }, { publicUrl, productName }) =>
    Promise.resolve({
      to: recipient,
      subject: 'Single sign-on was linked to your account',
      lines: [
        `Your account on ${productName} can now be signed in to by the single sign-on of your team, as long as you are a member.`,
        'If this was not you, change your password and contact support.',
      ],
      action: { label: 'Go to your activity', href: `${publicUrl}/user/account/activity` },
    }),
  team_sso_password: async (query, { recipient, account_id }, { publicUrl, productName }) => {
    const token = await issueEmailToken(query, { purpose: 'reset_password', email: recipient, account_id });
    return {
      to: recipient,
      subject: `Set a password for ${productName}`,
      lines: [
        'The single sign-on of your team no longer signs you in. Set a password to keep using your account.',
        'The link works for an hour. Later, choose “Forgot your password?” on the sign-in page.',
      ],
      action: { label: 'Set a password', href: `${publicUrl}/user/reset-password?token=${token}` },
    };
  },
};
