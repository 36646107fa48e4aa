import type { MailContent, MailSite } from '../../mail/layout/mail-content.ts';
import type { MailRenderers } from '../../mail/mail-renderer.ts';
import type { Query } from '../../platform/database/query.ts';

export type TopUpMail = { kind: 'top_up_failed'; recipient: string; account_id: number };

/** Not sent if it was switched off or has resumed meanwhile. */
export const topUpMails: MailRenderers<TopUpMail> = {
  top_up_failed: async (query, { account_id }, site) => {
    const failed = await findFailed(query, account_id);
    return failed === undefined ? undefined : failedMail(failed, site);
  },
};

type Failed = { to: string; paused_for: string | null; not_before: Date | null };

async function findFailed(query: Query, accountId: number): Promise<Failed | undefined> {
  const rows = await query<Failed>(
    `SELECT email AS "to", paused_for, not_before FROM top_up_settings JOIN accounts USING (account_id)
     WHERE account_id = :accountId AND is_on AND (declines > 0 OR paused_for IS NOT NULL)
       AND email_verified_at IS NOT NULL`,
    { accountId },
  );
  return rows[0];
}

const REASONS: Readonly<Record<string, string>> = {
  authentication_required: 'Your bank asks you to confirm the payment yourself.',
  no_payment_method: 'There is no saved card to pay with.',
  pack_withdrawn: "The pack can't be bought automatically any more.",
};

function failedMail({ to, paused_for, not_before }: Failed, { publicUrl }: MailSite): MailContent {
  const reason = (paused_for === null ? undefined : REASONS[paused_for]) ?? 'Your card was declined.';
  const next =
    paused_for === null && not_before !== null
      ? `The next attempt is at ${not_before.toISOString().slice(0, 16).replace('T', ' ')} UTC.`
      : paused_for === 'pack_withdrawn'
        ? 'Automatic top-up is paused until you choose another pack.'
        : 'Automatic top-up is paused until you add another card or buy points.';
  return {
    to,
    subject: 'Your automatic top-up failed',
    lines: [
      `Points couldn't be bought automatically. ${reason} Nothing was charged.`,
      next,
      'When your points are used up, API calls are refused with status 402.',
    ],
    action: { label: 'Go to your plan', href: `${publicUrl}/user/plan` },
  };
}
