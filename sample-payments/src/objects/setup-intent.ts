import { newId } from '../ids.ts';
import type { PaymentMethod } from './payments.ts';

/** Confirmed, with the customer's mandate. */
export function newSetupIntent(input: { created: number; customer: string; method: PaymentMethod }) {
  const id = newId('seti');
  return {
    id,
    object: 'setup_intent' as const,
    application: null,
    automatic_payment_methods: null,
    cancellation_reason: null,
    client_secret: `${id}_secret_${newId('', 25).slice(1)}`,
    created: input.created,
    customer: input.customer,
    customer_account: null,
    description: null,
    excluded_payment_method_types: null,
    flow_directions: null,
    last_setup_error: null,
    latest_attempt: newId('setatt'),
    livemode: false,
    mandate: newId('mandate'),
    metadata: {},
    next_action: null,
    on_behalf_of: null,
    payment_method: input.method.id,
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: [input.method.type],
    single_use_mandate: null,
    status: 'succeeded' as const,
    usage: 'off_session',
  };
}

export type SetupIntent = ReturnType<typeof newSetupIntent>;
