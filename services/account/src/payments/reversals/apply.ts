import type { LockInstant } from '../../billing/credits/changes.ts';
import { blockForDispute, settleDispute } from '../../billing/periods/payment-blocks.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Applied, Apply } from '../applied.ts';
import { reportFailure } from '../issues/failure.ts';
import { reportIssue, settleIssue } from '../issues/store.ts';
import type { Dispute, Payment, PaymentProvider } from '../provider.ts';
import { readMetadata } from '../purchases/metadata.ts';
import { findCustomerAccount } from '../customers.ts';
import { findByPayment } from '../purchases/store.ts';
import type { Purchase } from '../purchases/store.ts';
import { readTopUpMetadata } from '../top-ups/metadata.ts';
import { settleReversal } from './settle.ts';
import { findReversal, saveReversed, setRefunded } from './store.ts';
import { targetOf } from './target.ts';

type Needs = { query: Query; provider: Pick<PaymentProvider, 'readPayment'>; lockInstant: LockInstant };

const NOTHING: Applied = { outcome: 'ignored', change: null };

/**
 * Brings the points of a purchase to what the provider says of its payment now. Undefined if the purchase or the payment
 * isn't known yet.
 */
export async function applyPayment(needs: Needs, paymentId: string): Promise<Apply | undefined> {
  const before = await findByPayment(needs.query, paymentId);
  const version = before === undefined ? 0 : await versionOf(needs.query, before);
  const payment = await needs.provider.readPayment(paymentId);
  if (payment === undefined) return undefined;
  if (before !== undefined)
    return (query) => applyToPurchase(query, needs, { purchase: before, payment, version });
  if (payment.state !== 'paid') return () => Promise.resolve(NOTHING);
  // It is paid, and the event that says so comes later.
  const { metadata } = payment;
  if (readMetadata(metadata) !== undefined || readTopUpMetadata(metadata) !== undefined) return undefined;
  return (query) => reportOthers(query, payment);
}

async function applyToPurchase(
  query: Query,
  { lockInstant }: Needs,
  { purchase, payment, version }: { purchase: Purchase; payment: Payment; version: number },
): Promise<Applied> {
  const { purchase_id, account_id, points } = purchase;
  const { payment_id, paid, refunded, pending, disputes } = payment;
  await lockAccount(query, account_id);
  const known = await findReversal(query, purchase_id);
  if ((known?.version ?? 0) !== version) {
    throw new Error(`the payment ${payment_id} was read again meanwhile`);
  }
  if (payment.state === 'failed') {
    return { outcome: 'applied', change: await reportFailure(query, purchase) };
  }
  if (payment.state === 'open') return NOTHING;
  await reportDisputes(query, account_id, payment);
  const reversed = {
    paid,
    refunded,
    pending,
    lost: sumOf(disputes, 'lost'),
    isDisputed: disputes.some(({ state }) => state === 'open'),
  };
  // Of a purchase without a grant, there is nothing to take.
  const { target, frozen } = targetOf(purchase.credit_id === null ? 0 : points, reversed);
  if (known === undefined && refunded === 0 && disputes.length === 0)
    return { outcome: 'applied', change: null };
  await saveReversed(query, { purchase_id, account_id }, { ...reversed, target, frozen });
  await setRefunded(query, purchase_id, refunded >= paid);
  await settleReversal(query, lockInstant, purchase);
  const was = known?.target_points ?? 0;
  if (was === target) return { outcome: 'applied', change: null };
  const change = `purchase ${String(purchase_id)}: ${String(target)} points to be taken back instead of ${String(was)}`;
  return { outcome: 'applied', change };
}

async function versionOf(query: Query, { purchase_id }: Purchase): Promise<number> {
  return (await findReversal(query, purchase_id))?.version ?? 0;
}

function sumOf(disputes: readonly Dispute[], wanted: Dispute['state']): number {
  return disputes.filter(({ state }) => state === wanted).reduce((sum, { amount }) => sum + amount, 0);
}

/** A payment that is none of a purchase, such as a subscription's: an operator decides what follows from it. */
async function reportOthers(query: Query, payment: Payment): Promise<Applied> {
  const { payment_id, customer_id, currency, disputes } = payment;
  // What Tollgate gives back is reported with its reason.
  const refunded = payment.refunded - payment.refundedHere;
  const account_id = customer_id === null ? undefined : await findCustomerAccount(query, customer_id);
  if (account_id === undefined) return NOTHING;
  await lockAccount(query, account_id);
  await reportDisputes(query, account_id, payment);
  if (refunded > 0) {
    const details = { refunded_amount: refunded, currency };
    await reportIssue(query, {
      kind: 'refund_outside_purchases',
      object_id: payment_id,
      account_id,
      details,
    });
  }
  return { outcome: refunded > 0 || disputes.length > 0 ? 'applied' : 'ignored', change: null };
}

/** Until a dispute is won, it blocks the account. */
async function reportDisputes(query: Query, account_id: number, payment: Payment): Promise<void> {
  const { payment_id, currency } = payment;
  for (const { dispute_id: object_id, state, amount } of payment.disputes) {
    // An inquiry can become a dispute.
    if (state !== 'inquiry') await settleIssue(query, { kind: 'dispute_inquiry', object_id });
    if (state === 'open' || state === 'lost')
      await blockForDispute(query, { account_id, dispute_id: object_id });
    if (state === 'won') {
      await settleDispute(query, object_id);
      await settleIssue(query, { kind: 'dispute', object_id });
    } else {
      const kind = state === 'inquiry' ? 'dispute_inquiry' : 'dispute';
      await reportIssue(query, {
        kind,
        object_id,
        account_id,
        details: { payment_id, state, amount, currency },
      });
    }
  }
}
