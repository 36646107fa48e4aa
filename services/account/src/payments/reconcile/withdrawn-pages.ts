import type { Query } from '../../platform/database/query.ts';
import type { PaymentProvider } from '../provider.ts';
import { setState } from '../purchases/store.ts';
import { setPageState } from '../subscriptions/store.ts';

type Page = { id: number; session_id: string };

/** Longer than a page of Stripe's lives. */
const WITHDRAWN_LATELY = `withdrawn_at > clock_timestamp() - interval '25 hours'`;

const MAX_PAGES = 100;

/**
 * Closes pages that can still be paid of packs and prices that were withdrawn: as soon as they are, and again every
 * minute. What is paid all the same is honoured as it was sold.
 */
export async function closeWithdrawnPages({
  query,
  provider,
}: {
  query: Query;
  provider: Pick<PaymentProvider, 'expireCheckout'>;
}): Promise<void> {
  const purchases = await query<Page>(
    `SELECT purchase_id AS id, session_id FROM packs JOIN purchases USING (pack_id)
     WHERE ${WITHDRAWN_LATELY} AND state = 'open' AND session_id IS NOT NULL LIMIT :max`,
    { max: MAX_PAGES },
  );
  const subscriptions = await query<Page>(
    `SELECT checkout_id AS id, session_id FROM stripe_subscriptions
     WHERE state = 'open' AND session_id IS NOT NULL
       AND (plan_id, billing_interval) IN (SELECT plan_id, billing_interval FROM plan_prices WHERE ${WITHDRAWN_LATELY})
       AND NOT EXISTS (
         SELECT FROM plan_prices
         WHERE plan_prices.plan_id = stripe_subscriptions.plan_id AND withdrawn_at IS NULL
           AND plan_prices.billing_interval = stripe_subscriptions.billing_interval
           AND plan_prices.currency = stripe_subscriptions.currency
           AND unit_amount = stripe_subscriptions.amount)
     LIMIT :max`,
    { max: MAX_PAGES },
  );
  for (const { id, session_id } of purchases) {
    if (await provider.expireCheckout(session_id)) await setState(query, id, 'expired');
  }
  for (const { id, session_id } of subscriptions) {
    if (await provider.expireCheckout(session_id)) await setPageState(query, id, 'expired');
  }
}
