import { findHoldings } from '../../billing/credits/holdings.ts';
import type { MailContent, MailSite } from '../../mail/layout/mail-content.ts';
import type { MailRenderers } from '../../mail/mail-renderer.ts';
import type { Query } from '../../platform/database/query.ts';

export type CreditMail =
  | { kind: 'credits_expiring'; recipient: string; account_id: number; credit_id: number }
  | { kind: 'credits_low'; recipient: string; account_id: number };

/** Neither is sent if it isn't true any more, or if the account's address isn't verified any more. */
export const creditMails: MailRenderers<CreditMail> = {
  credits_expiring: async (query, { account_id, credit_id }, site) => {
    const holder = await findHolder(query, account_id);
    if (holder === undefined) return undefined;
    const { credits } = await findHoldings(query, account_id, holder.now.getTime());
    const held = credits.find((credit) => credit.credit_id === credit_id);
    if (held === undefined || held.expires_at === null) return undefined;
    return expiringMail(holder.to, held.points_remaining, held.expires_at, site);
  },
  credits_low: async (query, { account_id }, site) => {
    const holder = await findHolder(query, account_id);
    if (holder === undefined || holder.points === null) return undefined;
    const { points_remaining } = await findHoldings(query, account_id, holder.now.getTime());
    return lowMail(holder.to, points_remaining, holder.points, site);
  },
};

/** `points`: what could be used when the latest grant started; null unless little is left of it. */
type Holder = { to: string; points: number | null; now: Date };

async function findHolder(query: Query, accountId: number): Promise<Holder | undefined> {
  const rows = await query<Holder>(
    `SELECT email AS "to", CASE WHEN low_at IS NOT NULL THEN points END AS points, clock_timestamp() AS now
     FROM accounts LEFT JOIN credit_levels USING (account_id)
     WHERE account_id = :accountId AND email_verified_at IS NOT NULL`,
    { accountId },
  );
  return rows[0];
}

function expiringMail(to: string, points: number, expiresAt: Date, { publicUrl }: MailSite): MailContent {
  const at = `${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return {
    to,
    subject: `Your credits expire on ${at.slice(0, 10)}`,
    lines: [
      `${points.toLocaleString('en')} points that you haven't used yet expire soon.`,
      "After that, they can't be used. Points included in your plan are not affected.",
    ],
    facts: [['Expires', at]],
    action: { label: 'View your plan', href: `${publicUrl}/user/plan` },
    closing: [{ label: 'Turn these emails off', href: `${publicUrl}/user/alerts` }],
  };
}

function lowMail(to: string, left: number, points: number, { publicUrl }: MailSite): MailContent {
  return {
    to,
    subject: 'Your credits are running low',
    lines: [
      `${left.toLocaleString('en')} of ${points.toLocaleString('en')} points are left.`,
      'When they are used up, API calls are refused with status 402 until the next billing period starts, ' +
        'you get more credits or you upgrade your plan.',
    ],
    action: { label: 'View your plan', href: `${publicUrl}/user/plan` },
    closing: [
      { label: 'See what used them', href: `${publicUrl}/user/usage` },
      { label: 'Turn these emails off', href: `${publicUrl}/user/alerts` },
    ],
  };
}
