import Stripe from 'stripe';
import type { PaymentEvent } from '../provider.ts';

/** Either way: the package itself takes any time in the future. */
const TOLERANCE_SEC = 300;

/**
 * Verifies the signature over the bytes as received, by any of the secrets, and its time by the reference clock.
 * Undefined if one of them is wrong.
 */
export function readSignedEvent(
  body: Buffer,
  signature: string,
  by: {
    webhooks: Stripe['webhooks'];
    webhookSecrets: readonly string[];
    livemode: boolean;
    nowMs: number;
  },
): PaymentEvent | undefined {
  const nowSec = Math.floor(by.nowMs / 1_000);
  const signedAt = Number(/(?:^|,)t=(\d{1,15})(?:,|$)/.exec(signature)?.[1] ?? NaN);
  if (!(Math.abs(nowSec - signedAt) <= TOLERANCE_SEC)) return undefined;
  for (const secret of by.webhookSecrets) {
    const event = verified(() =>
      by.webhooks.constructEvent(body, signature, secret, TOLERANCE_SEC, undefined, nowSec),
    );
    if (event !== undefined) return eventOf(event, by.livemode);
  }
  return undefined;
}

function verified(construct: () => Stripe.Event): Stripe.Event | undefined {
  try {
    return construct();
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError || error instanceof SyntaxError) {
      return undefined;
    }
    throw error;
  }
}

function eventOf({ id, type, livemode, account, data }: Stripe.Event, wanted: boolean): PaymentEvent {
  return {
    id,
    type,
    object_id: objectOf(data) ?? id,
    isForeign: livemode !== wanted || account !== undefined,
  };
}

const PARTS_OF_PAYMENTS: unknown[] = ['charge', 'dispute', 'refund'];

function objectOf({ object }: Stripe.Event['data']): string | undefined {
  const {
    id,
    object: kind,
    payment_intent: payment,
    customer,
  } = object as unknown as Record<string, unknown>;
  if (typeof payment === 'string' && PARTS_OF_PAYMENTS.includes(kind)) return payment;
  if (kind === 'payment_method' && typeof customer === 'string') return customer;
  return typeof id === 'string' ? id : undefined;
}
