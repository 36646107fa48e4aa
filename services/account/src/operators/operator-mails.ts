import type { MailRenderers } from '../mail/mail-renderer.ts';

/** To admins among the operators. `name`: whom it is about. */
export type OperatorMail = { kind: 'operator_admin_removed'; recipient: string; name: string };

export const operatorMails: MailRenderers<OperatorMail> = {
  operator_admin_removed: (_query, { recipient, name }, { productName }) =>
    Promise.resolve({
      to: recipient,
      subject: `An admin of ${productName} was removed`,
      lines: [
        `${name} was removed from the operators of ${productName} and can no longer sign in there.`,
        "The audit log says who did it. If this wasn't planned, check it now: tollgate audit --action operator_removed",
      ],
    }),
};
