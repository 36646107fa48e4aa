import { newId } from '../ids.ts';
import type { Metadata } from './catalogue.ts';

/** What customers may do. What isn't named is off. */
type WantedFeatures = {
  [
    Name in
      | 'customer_update'
      | 'invoice_history'
      | 'payment_method_update'
      | 'subscription_cancel'
      | 'subscription_update'
  ]?: { enabled: boolean; allowed_updates?: string[] | undefined; mode?: string | undefined } | undefined;
};

export function newPortalConfiguration(
  created: number,
  {
    metadata = {},
    features = {},
  }: { metadata?: Metadata | undefined; features?: WantedFeatures | undefined } = {},
) {
  return {
    id: newId('bpc'),
    object: 'billing_portal.configuration' as const,
    active: true,
    application: null,
    business_profile: { headline: null, privacy_policy_url: null, terms_of_service_url: null },
    created,
    default_return_url: null,
    features: featuresOf(features),
    is_default: false,
    livemode: false,
    login_page: { enabled: false, url: null },
    metadata,
    name: null,
    updated: created,
  };
}

export function featuresOf(wanted: WantedFeatures) {
  const isOn = (feature: keyof WantedFeatures) => wanted[feature]?.enabled ?? false;
  return {
    customer_update: {
      allowed_updates: wanted.customer_update?.allowed_updates ?? [],
      enabled: isOn('customer_update'),
    },
    invoice_history: { enabled: isOn('invoice_history') },
    payment_method_update: { enabled: isOn('payment_method_update'), payment_method_configuration: null },
    subscription_cancel: {
      cancellation_reason: { enabled: false, options: [] },
      enabled: isOn('subscription_cancel'),
      mode: wanted.subscription_cancel?.mode ?? 'at_period_end',
      proration_behavior: 'none',
    },
    subscription_update: {
      billing_cycle_anchor: null,
      default_allowed_updates: [],
      enabled: isOn('subscription_update'),
      proration_behavior: 'none',
      schedule_at_period_end: { conditions: [] },
      trial_update_behavior: 'end_trial',
    },
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
