import { newId } from '../ids.ts';
import type { Metadata } from './catalogue.ts';

export function newPortalConfiguration(created: number, metadata: Metadata = {}) {
  return {
    id: newId('bpc'),
    object: 'billing_portal.configuration' as const,
    active: true,
    application: null,
    business_profile: { headline: null, privacy_policy_url: null, terms_of_service_url: null },
    created,
    default_return_url: null,
    features: {
      customer_update: { allowed_updates: ['address', 'tax_id'], enabled: true },
      invoice_history: { enabled: true },
      payment_method_update: { enabled: true, payment_method_configuration: null },
      subscription_cancel: {
        cancellation_reason: { enabled: false, options: [] },
        enabled: true,
        mode: 'at_period_end',
        proration_behavior: 'none',
      },
      subscription_update: {
        billing_cycle_anchor: null,
        default_allowed_updates: [],
        enabled: false,
        proration_behavior: 'none',
        schedule_at_period_end: { conditions: [] },
        trial_update_behavior: 'end_trial',
      },
    },
    is_default: false,
    livemode: false,
    login_page: { enabled: false, url: null },
    metadata,
    name: null,
    updated: created,
  };
}

export function newPortalSession(input: {
  created: number;
  origin: string;
  customer: string;
  configuration: string;
  return_url: string | null;
}) {
  const id = newId('bps');
  return {
    id,
    object: 'billing_portal.session' as const,
    configuration: input.configuration,
    created: input.created,
    customer: input.customer,
    customer_account: null,
    flow: null,
    livemode: false,
    locale: null,
    on_behalf_of: null,
    return_url: input.return_url,
    url: `${input.origin}/portal/${id}`,
  };
}

export type PortalConfiguration = ReturnType<typeof newPortalConfiguration>;
export type PortalSession = ReturnType<typeof newPortalSession>;
