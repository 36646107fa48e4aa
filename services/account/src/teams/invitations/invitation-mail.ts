import type { MailRenderers } from '../../mail/mail-renderer.ts';
import type { MailContent, MailSite } from '../../mail/layout/mail-content.ts';
import { invitationOfToken, issueInvitationToken } from './invitation-store.ts';
import type { ReceivedInvitation } from './invitation-store.ts';

export type InvitationMail = { kind: 'team_invitation'; recipient: string; invitation_id: number };

export const invitationMails: MailRenderers<InvitationMail> = {
  team_invitation: async (query, { recipient, invitation_id }, site) => {
    const token = await issueInvitationToken(query, invitation_id);
    const invitation = token === undefined ? undefined : await invitationOfToken(query, token);
    if (token === undefined || invitation === undefined) return undefined;
    return invitationMail(recipient, `${site.publicUrl}/user/invitation?token=${token}`, invitation, site);
  },
};

/** Words, and nothing that could be a link, a number to call or a sentence: a stranger typed it. */
const PLAIN_NAME = /^[\p{L}\p{M}\p{Nd}](?:[\p{L}\p{M}\p{Nd} '’&-]|\.(?=\s|$)){0,39}$/u;

/** The manager's address is theirs: they have confirmed it. Their own name is only on the page. */
function invitationMail(
  to: string,
  link: string,
  { invited_by_email, team_name }: Pick<ReceivedInvitation, 'invited_by_email' | 'team_name'>,
  { productName }: MailSite,
): MailContent {
  const team = PLAIN_NAME.test(team_name) && !/\d{5}/.test(team_name) ? `the team "${team_name}"` : 'a team';
  return {
    to,
    subject: `${invited_by_email} invites you to a team`,
    lines: [
      `${invited_by_email} manages ${team} on ${productName} and invites you to join it. Your calls are then billed to the team's plan, and the manager sees how much you use.`,
    ],
    action: { label: 'View invitation', href: link },
    closing: ["This invitation expires in 7 days. If you don't want to join, you can ignore this email."],
  };
}
