import type { MailRenderers } from '../../mail/mail-renderer.ts';

export type ConnectionMail = { kind: 'connection_ended'; recipient: string; account_id: number };

/** The application's name is a stranger's text, so that only the activity log has it. */
export const connectionMails: MailRenderers<ConnectionMail> = {
  connection_ended: (_query, { recipient }, { publicUrl, productName }) =>
    Promise.resolve({
      to: recipient,
      subject: 'An application was disconnected from your account',
      lines: [
        `An application that acts for you on ${productName} presented a credential that had been used before. Someone may have copied it, so we disconnected the application. It can no longer make calls for you.`,
        'Your activity log has its name. To use it again, connect it again from the application.',
      ],
      action: { label: 'Go to your activity', href: `${publicUrl}/user/account/activity` },
    }),
};
