import { z } from 'zod';
import { expiryAsText, expiryText, wholeText } from '../metadata-fields.ts';
import type { NewPurchase, Purchase } from './store.ts';

/**
 * What Stripe keeps for us with a session and its payment: enough to grant what was bought if the event overtakes our
 * own response, or if the database was restored to before the purchase.
 */
export function metadataOf(purchase: Purchase): Record<string, string> {
  const { purchase_key, account_id, pack_id, pack_name, quantity, points, currency, amount } = purchase;
  const { expires_after_days } = purchase;
  return {
    tollgate_purchase: purchase_key,
    account_id: String(account_id),
    pack_id: String(pack_id),
    pack_name,
    quantity: String(quantity),
    points: String(points),
    currency,
    amount: String(amount),
    expires_after_days: expiryAsText(expires_after_days),
  };
}

const metadataSchema = z.object({
  tollgate_purchase: z.uuid(),
  account_id: wholeText,
  pack_id: wholeText,
  pack_name: z.string(),
  quantity: wholeText,
  points: wholeText,
  currency: z.string(),
  amount: wholeText,
  expires_after_days: expiryText,
});

/** Undefined if it isn't ours. */
export function readMetadata(
  metadata: Readonly<Record<string, string>>,
): { purchase_key: string; sold: NewPurchase } | undefined {
  const parsed = metadataSchema.safeParse(metadata);
  if (!parsed.success) return undefined;
  const { tollgate_purchase: purchase_key, ...sold } = parsed.data;
  return { purchase_key, sold };
}
