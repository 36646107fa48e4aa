import type { MailRenderers } from '../../mail/mail-renderer.ts';
import { renderMail } from '../../mail/render-mail.ts';
import type { Mail } from '../../mail/render-mail.ts';
import { issueInvitationToken } from './invitation-store.ts';

export type InvitationMail = { kind: 'team_invitation'; recipient: string; invitation_id: number };

export const invitationMails: MailRenderers<InvitationMail> = {
  team_invitation: async (query, { recipient, invitation_id }, publicUrl) => {
    const token = await issueInvitationToken(query, invitation_id);
    if (token === undefined) return undefined;
    return invitationMail(recipient, `${publicUrl}/user/invitation?token=${token}`);
  },
};

/** Without names: users typed them. */
function invitationMail(to: string, link: string): Mail {
  return renderMail(to, {
    subject: "You've been invited to a team",
    lines: [
      "The manager of a team on Tollgate has invited you to join it. Your calls are then billed to the team's plan.",
      'See who invited you, and accept or decline:',
    ],
    link,
    closing: "This invitation expires in 7 days. If you don't want to join, you can ignore this email.",
  });
}
