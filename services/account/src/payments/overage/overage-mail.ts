import { findVerifiedEmail } from '../../identity/accounts/account-store.ts';
import type { MailContent, MailSite } from '../../mail/layout/mail-content.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import type { MailRenderers } from '../../mail/mail-renderer.ts';
import type { Query } from '../../platform/database/query.ts';
import { amountText } from '../../platform/money/amount-text.ts';
import { listReportable } from './store.ts';
import type { OwnInvoice } from './store.ts';

type OverageMail = { kind: 'overage_unpaid'; recipient: string; account_id: number };

/** Not sent if all is paid meanwhile, or if the account's address isn't verified any more. */
export const overageMails: MailRenderers<OverageMail> = {
  overage_unpaid: async (query, { account_id }, site) => {
    const to = await findVerifiedEmail(query, account_id);
    const unpaid = (await listReportable(query, account_id)).find(({ is_unpaid }) => is_unpaid);
    return to === undefined || unpaid === undefined ? undefined : unpaidMail(to, unpaid, site);
  },
};

export async function enqueueUnpaidMail(query: Query, account_id: number): Promise<void> {
  const recipient = await findVerifiedEmail(query, account_id);
  if (recipient === undefined) return;
  const mail: OverageMail = { kind: 'overage_unpaid', recipient, account_id };
  await enqueueMail(query, mail);
}

function unpaidMail(to: string, invoice: OwnInvoice, { publicUrl }: MailSite): MailContent {
  const { number, total, currency } = invoice;
  return {
    to,
    subject: 'Your payment for further points failed',
    lines: [
      'The invoice for the points that you used beyond your plan could not be paid.',
      "Until it is paid, no further points can be used: once your plan's points and your credits are used up, API " +
        'calls are refused with status 402.',
    ],
    facts: [
      ...(number === null ? [] : [['Invoice', number] as const]),
      ['Amount', amountText(total, currency)],
    ],
    action: { label: 'Pay now', href: `${publicUrl}/user/plan` },
  };
}
