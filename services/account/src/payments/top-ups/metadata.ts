import { z } from 'zod';
import { expiryAsText, expiryText, wholeText } from '../metadata-fields.ts';
import type { NewTopUp } from './store.ts';

/** What Stripe keeps for us with a payment: enough to grant its points if Postgres was restored to before it. */
export function metadataOf(topUp: NewTopUp & { top_up_key: string }): Record<string, string> {
  const { top_up_key, account_id, pack_id, pack_name, points, currency, amount, expires_after_days } = topUp;
  return {
    tollgate_top_up: top_up_key,
    account_id: String(account_id),
    pack_id: String(pack_id),
    pack_name,
    points: String(points),
    currency,
    amount: String(amount),
    expires_after_days: expiryAsText(expires_after_days),
  };
}

const metadataSchema = z.object({
  tollgate_top_up: z.uuid(),
  account_id: wholeText,
  pack_id: wholeText,
  pack_name: z.string(),
  points: wholeText,
  currency: z.string(),
  amount: wholeText,
  expires_after_days: expiryText,
});

/** Undefined if it isn't of a top-up. */
export function readTopUpMetadata(
  metadata: Readonly<Record<string, string>>,
): (NewTopUp & { top_up_key: string }) | undefined {
  const parsed = metadataSchema.safeParse(metadata);
  if (!parsed.success) return undefined;
  const { tollgate_top_up: top_up_key, ...sold } = parsed.data;
  return { top_up_key, ...sold };
}
