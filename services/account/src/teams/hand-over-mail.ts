import type { MailRenderers } from '../mail/mail-renderer.ts';

export type HandOverMail = { kind: 'team_handed_over'; recipient: string; account_id: number };

export const handOverMails: MailRenderers<HandOverMail> = {
  team_handed_over: (_query, { recipient }, { publicUrl, productName }) =>
    Promise.resolve({
      to: recipient,
      subject: 'You now manage your team',
      lines: [
        `The manager of your team on ${productName} has handed the team over to you.`,
        "From now on, all members' calls are billed to your plan. If you don't want this, hand the team over to another member or dissolve it.",
      ],
      action: { label: 'Go to your team', href: `${publicUrl}/user/team` },
    }),
};
