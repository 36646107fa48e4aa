import type { Logger } from '@tollgate/log';
import { Problem } from '@tollgate/http/problem';
import { grantCredits } from '../../billing/credits/changes.ts';
import type { LockInstant } from '../../billing/credits/changes.ts';
import { lockHolder } from '../../billing/credits/store.ts';
import { isErased } from '../../identity/accounts/account-store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { PAYMENTS_ACTOR } from '../actor.ts';
import type { Applied, Apply } from '../applied.ts';
import { reportFailure } from '../issues/failure.ts';
import { reportIssue } from '../issues/store.ts';
import type { Checkout, PaymentProvider } from '../provider.ts';
import { readMetadata } from './metadata.ts';
import { findByPayment, findDuplicate, insertPurchase, lockByPage, setPaid, setState } from './store.ts';
import type { NewPurchase, Purchase } from './store.ts';

/** Bought points have the priority that grants have by default. */
const PRIORITY = 50;
const DAY_MS = 86_400_000;

type Needs = {
  query: Query;
  provider: Pick<PaymentProvider, 'refund'>;
  lockInstant: LockInstant;
  logger: Pick<Logger, 'warn' | 'error'>;
};

/**
 * Brings a purchase to what the provider says of its page now. A payment grants once, however often we hear of it; one
 * that came after the account was erased is refunded.
 */
export async function applyCheckout(needs: Needs, checkout: Checkout): Promise<Apply> {
  const ours = readMetadata(checkout.metadata);
  if (ours === undefined) return () => Promise.resolve({ outcome: 'ignored', change: null });
  const { account_id } = ours.sold;
  const isLate = checkout.state === 'paid' && (await isLatePayment(needs, account_id, checkout.payment_id));
  // Before our row says so, and by a key of the payment: a process that dies in between does it again.
  if (isLate && checkout.payment_id !== checkout.session_id) await needs.provider.refund(checkout.payment_id);
  return (query) => applyOurs(query, needs, { ...ours, checkout, isLate });
}

/** What was paid before the account was erased isn't late, however often it is read again. */
export async function isLatePayment(
  { query }: Pick<Needs, 'query'>,
  accountId: number,
  paymentId: string,
): Promise<boolean> {
  return (await isErased(query, accountId)) && (await findByPayment(query, paymentId)) === undefined;
}

type Read = NonNullable<ReturnType<typeof readMetadata>> & { checkout: Checkout; isLate: boolean };

async function applyOurs(
  query: Query,
  needs: Pick<Needs, 'lockInstant' | 'logger'>,
  { purchase_key, sold, checkout, isLate }: Read,
): Promise<Applied> {
  const { account_id } = sold;
  const { session_id, state } = checkout;
  const mayHold = await lockHolder(query, account_id);
  // A database that was restored to before the purchase has forgotten it.
  const known = await lockByPage(query, { session_id, purchase_key });
  if (known === undefined && !mayHold && !isLate) return reportUnknown(query, sold, checkout);
  const purchase = known ?? (await insertPurchase(query, { ...sold, session_id }));
  if (purchase.state === 'paid' || purchase.state === 'refunded')
    return applyToPaid(query, purchase, checkout);
  const change =
    state === purchase.state
      ? null
      : `purchase ${String(purchase.purchase_id)}: ${purchase.state} to ${state}`;
  if (state !== 'paid') {
    await setState(query, purchase.purchase_id, state);
    return { outcome: 'applied', change };
  }
  // The account was erased after it was looked at: the next attempt refunds.
  if (!mayHold && !isLate) throw new Error(`the account ${String(account_id)} was erased meanwhile`);
  const isSettled = await settlePaid(query, needs, purchase, { ...checkout, mayHold });
  if (mayHold) await reportDuplicate(query, purchase, checkout.payment_id);
  return { outcome: isSettled ? 'applied' : 'ignored', change };
}

type Paid = { session_id: string | null; payment_id: string };

/**
 * Grants what was paid or, if the account is erased and the payment refunded, says so. False if nothing can be granted
 * for it; an operator then has to refund the payment.
 */
export async function settlePaid(
  query: Query,
  needs: Pick<Needs, 'lockInstant' | 'logger'>,
  purchase: Purchase,
  { mayHold, ...paid }: Paid & { mayHold: boolean },
): Promise<boolean> {
  if (mayHold) return grantPaid(query, needs, purchase, paid);
  await reportLate(query, needs, purchase, paid);
  return true;
}

/** A database that was restored to before the account was made has forgotten it, too, so the points have no owner. */
async function reportUnknown(
  query: Query,
  { account_id, points }: NewPurchase,
  { state, payment_id }: Checkout,
): Promise<Applied> {
  if (state === 'paid') {
    const issue = { kind: 'points_not_granted', object_id: payment_id, account_id: null } as const;
    await reportIssue(query, { ...issue, details: { account_id, points } });
  }
  return { outcome: 'ignored', change: null };
}

/** A failure that comes after the grant changes no points, but an operator must see it. */
async function applyToPaid(query: Query, purchase: Purchase, { state }: Checkout): Promise<Applied> {
  if (state !== 'failed') return { outcome: 'applied', change: null };
  return { outcome: 'applied', change: await reportFailure(query, purchase) };
}

async function grantPaid(
  query: Query,
  { lockInstant, logger }: Pick<Needs, 'lockInstant' | 'logger'>,
  purchase: Purchase,
  { session_id, payment_id }: Paid,
): Promise<boolean> {
  const { account_id, purchase_id, points } = purchase;
  const credit_id = await grant(query, lockInstant, purchase, payment_id);
  await setPaid(query, purchase_id, { payment_id, credit_id, state: 'paid' });
  if (credit_id !== null) return true;
  const about = { object_id: payment_id, account_id };
  await reportIssue(query, { ...about, kind: 'points_not_granted', details: { purchase_id, points } });
  const logged = { account_id, purchase_id, session_id, payment_id };
  logger.error(logged, 'payment not granted: too many points for the account; refund the payment');
  return false;
}

async function reportDuplicate(query: Query, purchase: Purchase, object_id: string): Promise<void> {
  const { account_id, purchase_id } = purchase;
  const duplicate_of = await findDuplicate(query, purchase);
  if (duplicate_of === undefined) return;
  const details = { purchase_id, duplicate_of };
  await reportIssue(query, { kind: 'possible_duplicate', object_id, account_id, details });
}

async function reportLate(
  query: Query,
  { logger }: Pick<Needs, 'logger'>,
  { account_id, purchase_id, amount, currency }: Purchase,
  { session_id, payment_id }: Paid,
): Promise<void> {
  await setPaid(query, purchase_id, { payment_id, credit_id: null, state: 'refunded' });
  const details = { purchase_id, amount, currency };
  await reportIssue(query, { kind: 'late_payment_refunded', object_id: payment_id, account_id, details });
  const logged = { account_id, purchase_id, session_id, payment_id };
  logger.warn(logged, 'payment refunded: the account is erased');
}

/** The grant's id; null if the account would have too many points, which trying again wouldn't change. */
async function grant(
  query: Query,
  lockInstant: LockInstant,
  purchase: Purchase,
  payment_id: string,
): Promise<number | null> {
  const { account_id, points, purchase_id } = purchase;
  try {
    const { credit } = await grantCredits(
      query,
      lockInstant,
      {
        account_id,
        points,
        source: 'purchase',
        priority: PRIORITY,
        effective_at: null,
        expires_at: await expiryOf(query, purchase),
        note: null,
        purchase_id,
      },
      { reporter: 'payments', idempotency_key: payment_id },
      PAYMENTS_ACTOR,
    );
    return credit.credit_id;
  } catch (error) {
    if (error instanceof Problem && error.code === 'total_too_large') return null;
    throw error;
  }
}

async function expiryOf(query: Query, { expires_after_days }: Purchase): Promise<Date | null> {
  if (expires_after_days === null) return null;
  return new Date((await databaseNow(query)).getTime() + expires_after_days * DAY_MS);
}
