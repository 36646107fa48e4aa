import type { Logger } from '@tollgate/log';
import { Problem } from '@tollgate/http/problem';
import { grantCredits } from '../../billing/credits/changes.ts';
import type { LockInstant } from '../../billing/credits/changes.ts';
import { lockHolder } from '../../billing/credits/store.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Checkout } from '../provider.ts';
import { readMetadata } from './metadata.ts';
import { insertPurchase, lockByPage, setPaid, setState } from './store.ts';
import type { Purchase } from './store.ts';

/** No credential of a person is behind what a payment grants. */
const PAYMENTS_ACTOR: Actor = { actor: 'payments', address: 'none', request_id: 'none' };

/** Bought points have the priority that grants have by default. */
const PRIORITY = 50;
const DAY_MS = 86_400_000;

type Needs = { lockInstant: LockInstant; logger: Pick<Logger, 'warn' | 'error'> };

/**
 * Brings a purchase to what the provider says of its page now. A payment grants once, however often we hear of it.
 * `ignored` if nothing can be granted for it; the log then names a payment that an operator has to refund. `query` is a
 * transaction's; the account is locked first.
 */
export async function applyCheckout(
  query: Query,
  { lockInstant, logger }: Needs,
  checkout: Checkout,
): Promise<'applied' | 'ignored'> {
  const ours = readMetadata(checkout.metadata);
  if (ours === undefined) return 'ignored';
  const { purchase_key, sold } = ours;
  const { account_id } = sold;
  const { session_id, payment_id } = checkout;
  const mayHold = await lockHolder(query, account_id);
  const known = await lockByPage(query, { session_id, purchase_key });
  if (!mayHold) {
    if (checkout.state === 'paid') {
      const about = { account_id, purchase_id: known?.purchase_id, session_id, payment_id };
      logger.warn(about, 'payment not granted: the account is erased; refund the payment');
    }
    return 'ignored';
  }
  // A database that was restored to before the purchase has forgotten it.
  const purchase = known ?? (await insertPurchase(query, { ...sold, session_id }));
  const { purchase_id } = purchase;
  if (purchase.state === 'paid' || purchase.state === 'refunded') return 'applied';
  if (checkout.state !== 'paid') {
    await setState(query, purchase_id, checkout.state);
    return 'applied';
  }
  const credit_id = await grant(query, lockInstant, purchase, payment_id);
  await setPaid(query, purchase_id, { payment_id, credit_id });
  if (credit_id !== null) return 'applied';
  const about = { account_id, purchase_id, session_id, payment_id };
  logger.error(about, 'payment not granted: too many points for the account; refund the payment');
  return 'ignored';
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
