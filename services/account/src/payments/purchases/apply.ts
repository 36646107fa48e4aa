import { grantCredits } from '../../billing/credits/changes.ts';
import type { LockInstant } from '../../billing/credits/changes.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Checkout } from '../provider.ts';
import { readMetadata } from './metadata.ts';
import { findByPage, insertPurchase, setPaid, setState } from './store.ts';
import type { Purchase } from './store.ts';

/** No credential of a person is behind what a payment grants. */
const PAYMENTS_ACTOR: Actor = { actor: 'payments', address: 'none', request_id: 'none' };

/** Bought points have the priority that grants have by default. */
const PRIORITY = 50;
const DAY_MS = 86_400_000;

/**
 * Brings a purchase to what the provider says of its page now. A payment grants once, however often we hear of it. `query` is a transaction's; the account is locked first.
 */
export async function applyCheckout(
  query: Query,
  lockInstant: LockInstant,
  checkout: Checkout,
): Promise<'applied' | 'ignored'> {
  const ours = readMetadata(checkout.metadata);
  if (ours === undefined) return 'ignored';
  const { purchase_key, sold } = ours;
  const account = await lockAccount(query, sold.account_id);
  if (account === undefined) return 'ignored';
  const page = { session_id: checkout.session_id, purchase_key };
  // A database that was restored to before the purchase has forgotten it.
  const purchase =
    (await findByPage(query, page, 'FOR UPDATE')) ??
    (await insertPurchase(query, { ...sold, session_id: checkout.session_id }));
  if (purchase.state === 'paid' || purchase.state === 'refunded') return 'applied';
  if (checkout.state !== 'paid') {
    await setState(query, purchase.purchase_id, checkout.state);
    return 'applied';
  }
  const { credit } = await grantCredits(
    query,
    lockInstant,
    {
      account_id: purchase.account_id,
      points: purchase.points,
      source: 'purchase',
      priority: PRIORITY,
      effective_at: null,
      expires_at: await expiryOf(query, purchase),
      note: null,
      purchase_id: purchase.purchase_id,
    },
    { reporter: 'payments', idempotency_key: checkout.payment_id },
    PAYMENTS_ACTOR,
  );
  const { payment_id } = checkout;
  await setPaid(query, purchase.purchase_id, { state: 'paid', payment_id, credit_id: credit.credit_id });
  return 'applied';
}

async function expiryOf(query: Query, { expires_after_days }: Purchase): Promise<Date | null> {
  if (expires_after_days === null) return null;
  return new Date((await databaseNow(query)).getTime() + expires_after_days * DAY_MS);
}
