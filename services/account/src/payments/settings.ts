import { z } from 'zod';

export const PAYMENT_MODES = ['none', 'stripe'] as const;

export const TAX_MODES = ['off', 'automatic'] as const;

export type TaxMode = (typeof TAX_MODES)[number];

/** A key of Stripe's: secret or restricted, of either mode. */
export const stripeSecretKey = z
  .string()
  .regex(/^[sr]k_(test|live)_\w{8,255}$/, 'must be a Stripe secret or restricted key (sk_… or rk_…)');

type PaymentSettings = {
  PAYMENTS: (typeof PAYMENT_MODES)[number];
  STRIPE_SECRET_KEY?: string | undefined;
  STRIPE_WEBHOOK_SECRET?: readonly string[] | undefined;
  STRIPE_API_URL?: string | undefined;
};

/** What payments need, and what would charge real cards by mistake. */
export function checkPayments(settings: PaymentSettings, context: z.RefinementCtx): void {
  const { PAYMENTS, STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_API_URL } = settings;
  const fault = (name: keyof PaymentSettings, message: string) => {
    context.addIssue({ code: 'custom', path: [name], message });
  };
  if (PAYMENTS === 'none') return;
  if (STRIPE_SECRET_KEY === undefined) fault('STRIPE_SECRET_KEY', 'is required with PAYMENTS=stripe');
  if (STRIPE_WEBHOOK_SECRET === undefined) fault('STRIPE_WEBHOOK_SECRET', 'is required with PAYMENTS=stripe');
  if (STRIPE_API_URL !== undefined && STRIPE_SECRET_KEY?.includes('_live_') === true) {
    fault('STRIPE_API_URL', 'cannot be used with a live key');
  }
}
