import { newId } from '../ids.ts';
import type { Metadata } from './catalogue.ts';

type SessionLine = { price: string; quantity: number; amount: number; description: string };

/** What a hosted page needs to charge; kept beside the object, as Stripe keeps it. */
export type SessionTerms = {
  lines: SessionLine[];
  intentMetadata: Metadata;
  subscriptionMetadata: Metadata;
  setupFutureUsage: string | null;
  /** Of the invoice that is made once it is paid; null for none. */
  invoiceMetadata: Metadata | null;
};

export function newCheckoutSession(input: {
  created: number;
  origin: string;
  mode: 'payment' | 'subscription';
  amount: number;
  currency: string;
  success_url: string;
  cancel_url: string | null;
  customer: string | null;
  customer_email: string | null;
  client_reference_id: string | null;
  metadata: Metadata;
  expires_at: number;
  allow_promotion_codes: boolean | null;
  automatic_tax: boolean;
  /** Null for a subscription, which has invoices of its own. */
  invoice_creation: { enabled: boolean; metadata: Metadata } | null;
}) {
  const id = newId('cs_test', 58);
  return {
    id,
    object: 'checkout.session' as const,
    adaptive_pricing: null,
    after_expiration: null,
    allow_promotion_codes: input.allow_promotion_codes,
    amount_subtotal: input.amount,
    amount_total: input.amount,
    automatic_tax: { enabled: input.automatic_tax, liability: null, provider: null, status: null },
    billing_address_collection: null,
    cancel_url: input.cancel_url,
    client_reference_id: input.client_reference_id,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    created: input.created,
    currency: input.currency,
    currency_conversion: null,
    custom_fields: [],
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    customer: input.customer,
    customer_creation: input.mode === 'payment' ? 'if_required' : null,
    customer_details: null,
    customer_email: input.customer_email,
    discounts: [],
    expires_at: input.expires_at,
    invoice: null as string | null,
    invoice_creation:
      input.invoice_creation === null
        ? null
        : {
            enabled: input.invoice_creation.enabled,
            invoice_data: {
              account_tax_ids: null,
              custom_fields: null,
              description: null,
              footer: null,
              issuer: null,
              metadata: input.invoice_creation.metadata,
              rendering_options: null,
            },
          },
    livemode: false,
    locale: null,
    metadata: input.metadata,
    mode: input.mode,
    origin_context: null,
    payment_intent: null as string | null,
    payment_link: null,
    payment_method_collection: input.mode === 'payment' ? 'if_required' : 'always',
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: ['card'],
    payment_status: 'unpaid' as 'unpaid' | 'paid' | 'no_payment_required',
    permissions: null,
    phone_number_collection: { enabled: false },
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: 'open' as 'open' | 'complete' | 'expired',
    submit_type: null,
    subscription: null as string | null,
    success_url: input.success_url,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: 'hosted_page',
    url: `${input.origin}/pay/${id}` as string | null,
    wallet_options: null,
  };
}

export type CheckoutSession = ReturnType<typeof newCheckoutSession>;
