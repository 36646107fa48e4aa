import { isoSeconds } from '../../http/iso-seconds.ts';
import { findVerifiedEmail } from '../../identity/accounts/account-store.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { enqueueDeliveries } from '../../notifications/deliveries/stores/delivery-store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import type { PaymentMail } from './payment-mail.ts';
import type { Invoice } from './store.ts';

/** docs/webhooks.md. */
function invoiceData({ account_id, ...invoice }: Invoice): Readonly<Record<string, unknown>> {
  const { invoice_id, number, state, currency, total, issued_at } = invoice;
  return {
    account_id,
    invoice: { invoice_id, number, state, currency, total, issued_at: isoSeconds(issued_at) },
  };
}

export async function tellPaid(query: Query, invoice: Invoice): Promise<void> {
  const event = {
    type: 'invoice.paid',
    timestamp: await databaseNow(query),
    data: invoiceData(invoice),
  } as const;
  await enqueueDeliveries(query, invoice.account_id, [event]);
}

/** Once for an invoice. The mail, only if calls depend on it: who is on the payment page sees the failure there. */
export async function tellFailure(
  query: Query,
  invoice: Invoice,
  { isDue }: { isDue: boolean },
): Promise<void> {
  const { account_id } = invoice;
  const event = {
    type: 'payment.failed',
    timestamp: await databaseNow(query),
    data: invoiceData(invoice),
  } as const;
  await enqueueDeliveries(query, account_id, [event]);
  if (!isDue) return;
  const recipient = await findVerifiedEmail(query, account_id);
  if (recipient === undefined) return;
  const mail: PaymentMail = { kind: 'payment_failed', recipient, account_id };
  await enqueueMail(query, mail);
}
