import type { MailRenderers } from '../../mail/mail-renderer.ts';
import { findPendingDeletion } from './store.ts';

export type DeletionMail =
  | {
      kind: 'account_deletion_requested' | 'account_deletion_cancelled';
      recipient: string;
      account_id: number;
    }
  | { kind: 'account_deleted'; recipient: string };

export const deletionMails: MailRenderers<DeletionMail> = {
  account_deletion_requested: async (query, { recipient, account_id }, { publicUrl, productName }) => {
    const pending = await findPendingDeletion(query, account_id);
    if (pending === undefined) return undefined;
    const due = `${pending.deletion_due_at.toISOString().slice(0, 16).replace('T', ' ')} (UTC)`;
    return {
      to: recipient,
      subject: 'Your account will be deleted',
      lines: [
        `We received a request to delete your ${productName} account. All its applications and tokens were revoked, and its webhooks were disabled.`,
        'Until the date below you can sign in and cancel the deletion. After it, your personal data is erased and cannot be restored.',
      ],
      facts: [['Deletion', due]],
      action: { label: 'Cancel the deletion', href: `${publicUrl}/user/account` },
      closing: [
        "If you didn't ask for this, cancel the deletion and change your password.",
        { label: 'Forgot your password? Choose a new one', href: `${publicUrl}/user/forgot-password` },
      ],
    };
  },
  account_deletion_cancelled: (_query, { recipient }, { publicUrl, productName }) =>
    Promise.resolve({
      to: recipient,
      subject: 'Your account will not be deleted',
      lines: [
        `The deletion of your ${productName} account was cancelled, and the account works again.`,
        'Revoked applications and tokens stay revoked. Rotate the client secret of an application to use it again.',
      ],
      action: { label: 'Go to your applications', href: `${publicUrl}/user/api_v2/applications` },
      closing: ["If you didn't do this, change your password now."],
    }),
  account_deleted: (_query, { recipient }, { productName }) =>
    Promise.resolve({
      to: recipient,
      subject: 'Your account was deleted',
      lines: [
        `Your ${productName} account was deleted, and your personal data was erased.`,
        'Records of usage and billing are kept without your name and address. This is the last email about the account.',
      ],
    }),
};
