import { newId } from '../ids.ts';

export type Metadata = Record<string, string>;

export function newCustomer(input: {
  created: number;
  email?: string | undefined;
  name?: string | undefined;
  description?: string | undefined;
  metadata?: Metadata | undefined;
  test_clock?: string | undefined;
}) {
  return {
    id: newId('cus', 14),
    object: 'customer' as const,
    address: null,
    balance: 0,
    created: input.created,
    currency: null as string | null,
    default_source: null,
    delinquent: false,
    description: input.description ?? null,
    discount: null,
    email: input.email ?? null,
    invoice_prefix: newId('', 8).slice(1).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null as string | null,
      footer: null,
      rendering_options: null,
    },
    livemode: false,
    metadata: input.metadata ?? {},
    name: input.name ?? null,
    next_invoice_sequence: 1,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: input.test_clock ?? null,
  };
}

export function newProduct(input: {
  created: number;
  name: string;
  id?: string | undefined;
  description?: string | undefined;
  metadata?: Metadata | undefined;
}) {
  return {
    id: input.id ?? newId('prod', 14),
    object: 'product' as const,
    active: true,
    created: input.created,
    default_price: null,
    description: input.description ?? null,
    images: [],
    livemode: false,
    marketing_features: [],
    metadata: input.metadata ?? {},
    name: input.name,
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: null,
    type: 'service',
    unit_label: null,
    updated: input.created,
    url: null,
  };
}

export type Interval = 'day' | 'week' | 'month' | 'year';

export function newPrice(input: {
  created: number;
  product: string;
  currency: string;
  unit_amount: number;
  interval?: Interval | undefined;
  tax_behavior?: string | undefined;
  lookup_key?: string | undefined;
  nickname?: string | undefined;
  metadata?: Metadata | undefined;
}) {
  const { interval } = input;
  return {
    id: newId('price'),
    object: 'price' as const,
    active: true,
    billing_scheme: 'per_unit',
    created: input.created,
    currency: input.currency,
    custom_unit_amount: null,
    livemode: false,
    lookup_key: input.lookup_key ?? null,
    metadata: input.metadata ?? {},
    nickname: input.nickname ?? null,
    product: input.product,
    recurring:
      interval === undefined
        ? null
        : { interval, interval_count: 1, meter: null, trial_period_days: null, usage_type: 'licensed' },
    tax_behavior: input.tax_behavior ?? 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: interval === undefined ? 'one_time' : 'recurring',
    unit_amount: input.unit_amount,
    unit_amount_decimal: String(input.unit_amount),
  };
}

export type Customer = ReturnType<typeof newCustomer>;
export type Product = ReturnType<typeof newProduct>;
export type Price = ReturnType<typeof newPrice>;
