import { z } from 'zod';
import { wholeText } from '../metadata-fields.ts';
import type { NewCheckout, StripeSubscription } from './store.ts';

/** What Stripe keeps for us with a session and its subscription, for the same reasons as a purchase's. */
export function metadataOf(checkout: StripeSubscription): Record<string, string> {
  const { checkout_key, account_id, plan_id, billing_interval, currency, amount } = checkout;
  return {
    tollgate_subscription: checkout_key,
    account_id: String(account_id),
    plan_id: String(plan_id),
    billing_interval,
    currency,
    amount: String(amount),
  };
}

const metadataSchema = z.object({
  tollgate_subscription: z.uuid(),
  account_id: wholeText,
  plan_id: wholeText,
  billing_interval: z.enum(['month', 'year']),
  currency: z.string(),
  amount: wholeText,
});

/** Undefined if it isn't ours. */
export function readMetadata(
  metadata: Readonly<Record<string, string>>,
): { checkout_key: string; sold: NewCheckout } | undefined {
  const parsed = metadataSchema.safeParse(metadata);
  if (!parsed.success) return undefined;
  const { tollgate_subscription: checkout_key, ...sold } = parsed.data;
  return { checkout_key, sold };
}

export function isSubscriptionPage({ metadata }: { metadata: Readonly<Record<string, string>> }): boolean {
  return readMetadata(metadata) !== undefined;
}
