import type { Logger } from '@tollgate/log';
import {
  addChangeDue,
  awaitDebit,
  beginGrace,
  settleChange,
  settlePeriod,
} from '../../billing/periods/payment-blocks.ts';
import { wasErasedBefore } from '../../identity/accounts/account-store.ts';
import { lockSubscription } from '../../billing/subscriptions/store.ts';
import { lockHolder } from '../../billing/credits/store.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Applied, Apply } from '../applied.ts';
import { findCustomerAccount } from '../customers.ts';
import { reportIssue } from '../issues/store.ts';
import { chargeAgain, isForOverage } from '../overage/store.ts';
import type { PaymentProvider } from '../provider.ts';
import { applyProvided as applySubscriptionProvided } from '../subscriptions/apply.ts';
import { findByStripeId, wasEndedBefore } from '../subscriptions/store.ts';
import type { ProvidedInvoice } from '../subscription-provider.ts';
import { findInvoice, findPaidPeriod, storeInvoice } from './store.ts';
import type { Invoice } from './store.ts';
import { tellFailure, tellPaid } from './tell.ts';

/** An invoice stays as it was settled: what was read before can come later. */
const SETTLED = new Set<ProvidedInvoice['state']>(['paid', 'void']);

type Needs = {
  query: Query;
  provider: Pick<PaymentProvider, 'readInvoice' | 'readSubscription' | 'listInvoicePayments' | 'refund'>;
  /** PAYMENT_GRACE_SEC */
  paymentGraceSec: number;
  logger: Pick<Logger, 'error'>;
};

/**
 * The first invoice of a subscription starts it, and that of an upgrade brings the plan. Undefined if the provider
 * doesn't know it (yet).
 */
export async function applyInvoice(needs: Needs, id: string): Promise<Apply | undefined> {
  const { query: read, provider } = needs;
  const invoice = await provider.readInvoice(id);
  if (invoice === undefined) return undefined;
  const { subscription_id, billing_reason, state } = invoice;
  const known = subscription_id === undefined ? undefined : await findByStripeId(read, subscription_id);
  const isFirst = billing_reason === 'subscription_create' && known?.state !== 'started';
  const isChange = billing_reason === 'subscription_update';
  const mayBeDue = isChange && state === 'open' && invoice.hasFailed;
  if (subscription_id === undefined || !(mayBeDue || (state === 'paid' && (isFirst || isChange)))) {
    const refunded = await refundLate(needs, invoice);
    return (query) => applyProvided(query, invoice, refunded, null);
  }
  const subscription = await provider.readSubscription(subscription_id);
  if (subscription === undefined) return undefined;
  if (mayBeDue) {
    // An upgrade waits for its payment; an operator's change doesn't.
    const isEffective = subscription.unpaid_change === null && !subscription.isEnded;
    return (query) => applyProvided(query, invoice, [], isEffective ? needs.paymentGraceSec : null);
  }
  // What couldn't start is refunded by the outbox.
  const refunded = isFirst ? [] : await refundLate(needs, invoice);
  const paid = { ...subscription, isPaid: true };
  return async (query) => {
    await applySubscriptionProvided(query, needs, paid, known?.revision ?? 0);
    return applyProvided(query, invoice, refunded, null);
  };
}

/**
 * What was charged after the account was erased goes back, unless it was used before: Stripe charges an invoice of
 * further points an hour after it is made, or later. So does a renewal of what had ended here before Stripe heard of it.
 * Before our row says so: a process that dies in between does it again. Returns the payments.
 */
async function refundLate({ query, provider }: Needs, invoice: ProvidedInvoice): Promise<string[]> {
  const { id, paid_at } = invoice;
  const account_id = paid_at === null ? undefined : await findPayer(query, invoice);
  if (paid_at === null || account_id === undefined) return [];
  const isLate =
    (await wasErasedBefore(query, account_id, paid_at)) || (await isRenewalOfEnded(query, invoice));
  if (!isLate) return [];
  if ((await findInvoice(query, id))?.state === 'paid' || (await isForOverage(query, id))) return [];
  const payments = await provider.listInvoicePayments(id);
  for (const payment of payments) await provider.refund(payment);
  return payments;
}

async function isRenewalOfEnded(
  query: Query,
  { subscription_id, billing_reason, period_start }: ProvidedInvoice,
): Promise<boolean> {
  if (subscription_id === undefined || period_start === null) return false;
  return billing_reason === 'subscription_cycle' && wasEndedBefore(query, subscription_id, period_start);
}

/**
 * Brings an invoice, and the period that it pays, to what Stripe says of it now. `query` is a transaction's; the account
 * is locked first. `ignored` if it is none of our customers'. `changeGraceSec`: how long the invoice of a change that has
 * taken effect may stay unpaid; null for all others.
 */
async function applyProvided(
  query: Query,
  provided: ProvidedInvoice,
  refunded: readonly string[],
  changeGraceSec: number | null,
): Promise<Applied> {
  const account_id = await findPayer(query, provided);
  if (account_id === undefined) return { outcome: 'ignored', change: null };
  const isHeld = await lockHolder(query, account_id);
  if (!isHeld || refunded.length > 0) return reportLate(query, account_id, provided, refunded);
  const before = await findInvoice(query, provided.id);
  const isOlder = before !== undefined && before.state !== 'draft' && provided.state === 'draft';
  if (isOlder || (before !== undefined && SETTLED.has(before.state)))
    return { outcome: 'applied', change: null };
  const { subscription_id: stripeId } = provided;
  const row = stripeId === undefined ? undefined : await findByStripeId(query, stripeId);
  const subscription_id = row?.subscription_id ?? null;
  // Renewals lock it, too: either the period is here to be settled, or the renewal sees the invoice.
  if (subscription_id !== null) await lockSubscription(query, subscription_id);
  const invoice = await storeInvoice(query, { account_id, subscription_id }, provided);
  const isRenewal = invoice.billing_reason === 'subscription_cycle';
  const renewed = isRenewal ? await findPaidPeriod(query, invoice) : undefined;
  if (SETTLED.has(invoice.state)) {
    if (renewed !== undefined) await settlePeriod(query, renewed);
    await settleChange(query, invoice.stripe_invoice_id);
    if (invoice.state === 'paid') await tellPaid(query, invoice);
    else await chargeAgain(query, account_id, invoice.stripe_invoice_id);
  } else if (provided.isProcessing && renewed !== undefined && invoice.failed_at === null) {
    await awaitDebit(query, renewed);
  } else if (provided.hasFailed && (before === undefined || before.failed_at === null)) {
    const isDue =
      renewed === undefined
        ? await isChangeDue(query, invoice, changeGraceSec)
        : await beginGrace(query, renewed);
    await tellFailure(query, invoice, { isDue });
  }
  const from = before?.state ?? 'unknown';
  const change = from === invoice.state ? null : `invoice ${provided.id}: ${from} to ${invoice.state}`;
  return { outcome: 'applied', change };
}

async function isChangeDue(
  query: Query,
  { subscription_id, stripe_invoice_id, issued_at }: Invoice,
  graceSec: number | null,
): Promise<boolean> {
  if (subscription_id === null || graceSec === null) return false;
  return addChangeDue(query, { subscription_id, stripe_invoice_id, issued_at }, graceSec);
}

/** Of an erased account, or of what had ended: the invoice stays as a record of what was refunded. */
async function reportLate(
  query: Query,
  account_id: number,
  provided: ProvidedInvoice,
  refunded: readonly string[],
): Promise<Applied> {
  const { id, subscription_id: stripeId, number, total, currency } = provided;
  if (refunded.length === 0) {
    if (!(await isForOverage(query, id))) return { outcome: 'ignored', change: null };
    await storeInvoice(query, { account_id, subscription_id: null }, provided);
    return { outcome: 'applied', change: null };
  }
  const row = stripeId === undefined ? undefined : await findByStripeId(query, stripeId);
  await storeInvoice(query, { account_id, subscription_id: row?.subscription_id ?? null }, provided);
  for (const object_id of refunded) {
    const details = { invoice: number ?? id, amount: total, currency };
    await reportIssue(query, { kind: 'late_payment_refunded', object_id, account_id, details });
  }
  return {
    outcome: 'applied',
    change: `invoice ${id}: paid after the account or the subscription had ended, and refunded`,
  };
}

async function findPayer(
  query: Query,
  { subscription_id, customer_id }: ProvidedInvoice,
): Promise<number | undefined> {
  const paying = subscription_id === undefined ? undefined : await findByStripeId(query, subscription_id);
  if (paying !== undefined) return paying.account_id;
  return customer_id === undefined ? undefined : findCustomerAccount(query, customer_id);
}
