import type { MailRenderers } from '../mail/mail-renderer.ts';

/** To admins among the operators. The audit log has the name, which someone has typed. */
export type OperatorMail = { kind: 'operator_admin_removed' | 'operator_break_glass'; recipient: string };

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
};
