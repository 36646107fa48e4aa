import type { MailRenderers } from '../mail/mail-renderer.ts';
import { reasonOfLatest } from '../platform/audit/reason-of-latest.ts';

/** To admins among the operators, and to customers. The audit log has the name, which someone has typed. */
export type OperatorMail =
  | { kind: 'operator_admin_removed' | 'operator_break_glass'; recipient: string }
  | { kind: 'operator_view_overridden'; recipient: string; account_id: number };

export const operatorMails: MailRenderers<OperatorMail> = {
  operator_admin_removed: (_query, { recipient }, { productName }) =>
    Promise.resolve({
      to: recipient,
      subject: 'An admin among the operators was removed',
      lines: [
        `One of the admins who operate ${productName} was removed and can no longer sign in there.`,
        "The audit log says who it was and who did it. If this wasn't planned, check it now: tollgate audit list --action operator_removed",
      ],
    }),
  operator_break_glass: (_query, { recipient }, { productName }) =>
    Promise.resolve({
      to: recipient,
      subject: 'An operator signed in without the identity provider',
      lines: [
        `An operator of ${productName} signed in with a passkey, not by the identity provider.`,
        "The audit log says who it was and from where. If this wasn't planned, check it now: tollgate audit list --action operator_break_glass",
      ],
    }),
  operator_view_overridden: async (query, { recipient, account_id }, { productName, publicUrl }) => {
    const reason = await reasonOfLatest(query, account_id, 'customer_view_begun');
    return {
      to: recipient,
      subject: 'Support viewed your account',
      lines: [
        `An admin of ${productName} viewed your account although you or the manager of your team don't allow it. They saw what you see in the console, without secrets, and could change nothing. It ends after 15 minutes.`,
        'Beginning and end are in the activity of your account. If you have a question about it, contact support.',
      ],
      ...(reason === undefined ? {} : { facts: [['Reason given by support', reason] as const] }),
      action: { label: 'Open the activity', href: `${publicUrl}/user/account/activity` },
    };
  },
};
