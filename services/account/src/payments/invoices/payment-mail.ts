import type { MailContent, MailSite } from '../../mail/layout/mail-content.ts';
import type { MailRenderers } from '../../mail/mail-renderer.ts';
import type { Query } from '../../platform/database/query.ts';

export type PaymentMail = { kind: 'payment_failed'; recipient: string; account_id: number };

type Due = { to: string; blocks_at: Date };

/** Not sent if it has been paid meanwhile, or if the account's address isn't verified any more. */
export const paymentMails: MailRenderers<PaymentMail> = {
  payment_failed: async (query, { account_id }, site) => {
    const due = await findRenewalDue(query, account_id);
    return due === undefined ? undefined : failedMail(due, site);
  },
};

async function findRenewalDue(query: Query, accountId: number): Promise<Due | undefined> {
  const rows = await query<Due>(
    `SELECT email AS "to", blocks_at FROM payment_blocks JOIN accounts USING (account_id)
     WHERE account_id = :accountId AND reason = 'renewal' AND email_verified_at IS NOT NULL
     ORDER BY blocks_at LIMIT 1`,
    { accountId },
  );
  return rows[0];
}

function failedMail({ to, blocks_at }: Due, { publicUrl }: MailSite): MailContent {
  const at = `${blocks_at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return {
    to,
    subject: 'Your payment failed',
    lines: [
      'The payment for the renewal of your plan failed. Your API calls still work.',
      `Pay the open invoice or update your card by ${at}. After that, API calls are refused with status 403 until ` +
        'the invoice is paid.',
    ],
    facts: [['Pay by', at]],
    action: { label: 'Pay now', href: `${publicUrl}/user/plan` },
  };
}
