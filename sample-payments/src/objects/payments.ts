import { newId } from '../ids.ts';
import type { Metadata } from './catalogue.ts';

const NO_ADDRESS = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };
const NO_BILLING_DETAILS = { address: NO_ADDRESS, email: null, name: null, phone: null, tax_id: null };

/** `behaviour` is the test method that it was made from, such as `pm_card_visa`. */
export function newPaymentMethod(input: { created: number; behaviour: string; type: 'card' | 'sepa_debit' }) {
  const base = {
    id: newId('pm'),
    object: 'payment_method' as const,
    allow_redisplay: 'unspecified',
    billing_details: NO_BILLING_DETAILS,
    created: input.created,
    customer: null as string | null,
    customer_account: null,
    livemode: false,
    metadata: { sample_behaviour: input.behaviour } as Metadata,
    type: input.type,
  };
  if (input.type === 'sepa_debit') {
    const sepa_debit = {
      bank_code: '37040044',
      branch_code: null,
      country: 'DE',
      fingerprint: 'vifs0Ho7vwRn1Miu',
      generated_from: { charge: null, setup_attempt: null },
      last4: '3000',
    };
    return { ...base, sepa_debit };
  }
  return { ...base, card: { ...CARD, display_brand: 'visa', generated_from: null, networks: NETWORKS } };
}

const NETWORKS = { available: ['visa'], preferred: null };
const CARD = {
  brand: 'visa',
  checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'pass' },
  country: 'US',
  exp_month: 8,
  exp_year: 2_040,
  fingerprint: 'AOB934RVNwzk6xtn',
  funding: 'credit',
  last4: '4242',
  regulated_status: null,
  three_d_secure_usage: { supported: true },
  wallet: null,
};

type IntentStatus =
  | 'requires_payment_method'
  | 'requires_confirmation'
  | 'requires_action'
  | 'processing'
  | 'succeeded'
  | 'canceled';

export function newPaymentIntent(input: {
  created: number;
  amount: number;
  currency: string;
  customer?: string | null | undefined;
  description?: string | undefined;
  metadata?: Metadata | undefined;
  payment_method?: string | null | undefined;
  setup_future_usage?: string | null | undefined;
}) {
  const id = newId('pi');
  return {
    id,
    object: 'payment_intent' as const,
    amount: input.amount,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null as number | null,
    cancellation_reason: null as string | null,
    capture_method: 'automatic',
    client_secret: `${id}_secret_${newId('', 25).slice(1)}`,
    confirmation_method: 'automatic',
    created: input.created,
    currency: input.currency,
    customer: input.customer ?? null,
    description: input.description ?? null,
    last_payment_error: null as object | null,
    latest_charge: null as string | null,
    livemode: false,
    metadata: input.metadata ?? {},
    next_action: null as object | null,
    on_behalf_of: null,
    payment_method: input.payment_method ?? null,
    payment_method_options: {},
    payment_method_types: ['card'],
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: input.setup_future_usage ?? null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'requires_payment_method' as IntentStatus,
    transfer_data: null,
    transfer_group: null,
  };
}

export function newCharge(input: {
  created: number;
  intent: PaymentIntent;
  payment_method: string;
  failure: { code: string; message: string } | null;
}) {
  const { intent, failure } = input;
  const id = newId('ch');
  return {
    id,
    object: 'charge' as const,
    amount: intent.amount,
    amount_captured: failure === null ? intent.amount : 0,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: failure === null ? newId('txn') : null,
    billing_details: NO_BILLING_DETAILS,
    calculated_statement_descriptor: 'SAMPLE',
    captured: failure === null,
    created: input.created,
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: failure?.code ?? null,
    failure_message: failure?.message ?? null,
    fraud_details: {},
    livemode: false,
    metadata: intent.metadata,
    on_behalf_of: null,
    outcome: null,
    paid: failure === null,
    payment_intent: intent.id,
    payment_method: input.payment_method,
    payment_method_details: null,
    receipt_email: null,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: failure === null ? 'succeeded' : 'failed',
    transfer_data: null,
    transfer_group: null,
  };
}

export function newRefund(input: {
  created: number;
  charge: Charge;
  amount: number;
  reason?: string | undefined;
  metadata?: Metadata | undefined;
}) {
  return {
    id: newId('re'),
    object: 'refund' as const,
    amount: input.amount,
    balance_transaction: newId('txn'),
    charge: input.charge.id,
    created: input.created,
    currency: input.charge.currency,
    destination_details: { card: { type: 'refund' }, type: 'card' },
    failure_reason: undefined as string | undefined,
    metadata: input.metadata ?? {},
    payment_intent: input.charge.payment_intent,
    reason: input.reason ?? null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'succeeded' as 'pending' | 'succeeded' | 'failed' | 'canceled',
    transfer_reversal: null,
  };
}

export type DisputeStatus =
  'warning_needs_response' | 'warning_closed' | 'needs_response' | 'under_review' | 'won' | 'lost';

export function newDispute(input: { created: number; charge: Charge; status: DisputeStatus }) {
  const { created, charge } = input;
  return {
    id: newId('du'),
    object: 'dispute' as const,
    amount: charge.amount,
    balance_transactions: [],
    charge: charge.id,
    created,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: { ...NO_EVIDENCE, enhanced_evidence: {} },
    evidence_details: {
      due_by: created + 7 * 86_400,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
    },
    is_charge_refundable: input.status.startsWith('warning'),
    livemode: false,
    metadata: {} as Metadata,
    payment_intent: charge.payment_intent,
    reason: 'fraudulent',
    status: input.status,
  };
}

const NO_EVIDENCE = Object.fromEntries(
  (
    'access_activity_log billing_address cancellation_policy cancellation_policy_disclosure ' +
    'cancellation_rebuttal customer_communication customer_email_address customer_name ' +
    'customer_purchase_ip customer_signature duplicate_charge_documentation duplicate_charge_explanation ' +
    'duplicate_charge_id product_description receipt refund_policy refund_policy_disclosure ' +
    'refund_refusal_explanation service_date service_documentation shipping_address shipping_carrier ' +
    'shipping_date shipping_documentation shipping_tracking_number uncategorized_file uncategorized_text'
  )
    .split(' ')
    .map((name) => [name, null]),
) as Record<string, null>;

export type PaymentMethod = ReturnType<typeof newPaymentMethod>;
export type PaymentIntent = ReturnType<typeof newPaymentIntent>;
export type Charge = ReturnType<typeof newCharge>;
export type Refund = ReturnType<typeof newRefund>;
export type Dispute = ReturnType<typeof newDispute>;
