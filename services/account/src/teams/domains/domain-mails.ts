import { LAPSED_AFTER_DAYS } from '../../identity/accounts/open-domain.ts';
import type { MailRenderers } from '../../mail/mail-renderer.ts';
import { WARNED_AFTER_DAYS } from './store.ts';

type Kind = 'team_domain_missing' | 'team_domain_lost' | 'team_domain_taken';

/** `name`: the domain. */
export type DomainMail = {
  [Each in Kind]: { kind: Each; recipient: string; account_id: number; name: string };
}[Kind];

const ACTION = 'Go to your team';

export const domainMails: MailRenderers<DomainMail> = {
  team_domain_missing: (_query, { recipient, name }, { publicUrl, productName }) =>
    Promise.resolve({
      to: recipient,
      subject: `The DNS record of ${name} is missing`,
      lines: [
        `The TXT record by which your team on ${productName} has proven ${name} has been missing for ${String(WARNED_AFTER_DAYS)} days.`,
        `Add it again. Once it has been missing for ${String(LAPSED_AFTER_DAYS)} days, the domain counts as lapsed until the record is back. Your team keeps its people.`,
      ],
      action: { label: ACTION, href: `${publicUrl}/user/team` },
    }),
  team_domain_lost: (_query, { recipient, name }, { publicUrl, productName }) =>
    Promise.resolve({
      to: recipient,
      subject: `${name} now belongs to another team`,
      lines: [
        `Another team on ${productName} has proven ${name} by a DNS record, so it is no longer your team's. Your team keeps its people.`,
        'If your company owns this domain, check who can change its DNS records. Then verify it again.',
      ],
      action: { label: ACTION, href: `${publicUrl}/user/team` },
    }),
  team_domain_taken: (_query, { recipient, name }, { publicUrl, productName }) =>
    Promise.resolve({
      to: recipient,
      subject: `${name} is now your team's`,
      lines: [
        `Your team has proven ${name}, which another team on ${productName} had before. That team's manager has been told.`,
      ],
      action: { label: ACTION, href: `${publicUrl}/user/team` },
    }),
};
