import type { MailRenderers } from '../../mail/mail-renderer.ts';
import type { MailContent, MailSite } from '../../mail/layout/mail-content.ts';
import { issueInvitationToken } from './invitation-store.ts';

export type InvitationMail = { kind: 'team_invitation'; recipient: string; invitation_id: number };

export const invitationMails: MailRenderers<InvitationMail> = {
  team_invitation: async (query, { recipient, invitation_id }, site) => {
    const token = await issueInvitationToken(query, invitation_id);
    if (token === undefined) return undefined;
    return invitationMail(recipient, `${site.publicUrl}/user/invitation?token=${token}`, site);
  },
};

/** Without names: users typed them. */
function invitationMail(to: string, link: string, { productName }: MailSite): MailContent {
  return {
    to,
    subject: "You've been invited to a team",
    lines: [
      `The manager of a team on ${productName} has invited you to join it. Your calls are then billed to the team's plan.`,
      'See who invited you, and accept or decline.',
    ],
    action: { label: 'View invitation', href: link },
    closing: ["This invitation expires in 7 days. If you don't want to join, you can ignore this email."],
  };
}
