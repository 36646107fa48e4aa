import { z } from 'zod';
import { checkCharge } from '../currencies.ts';
import { invalid } from '../http/failure.ts';
import { read, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { newCheckoutSession } from '../objects/checkout-session.ts';
import type { SessionTerms } from '../objects/checkout-session.ts';
import { expireSession } from '../payments/checkout.ts';
import type { Store } from '../store.ts';
import { flag, metadata, whole } from './input.ts';
import { getRoute, listRoute } from './list.ts';

const createSchema = z.object({
  mode: z.enum(['payment', 'subscription']),
  line_items: z
    .array(z.object({ price: z.string(), quantity: whole.pipe(z.int().min(1)).optional() }))
    .min(1)
    .max(20),
  success_url: z.string().optional(),
  cancel_url: z.string().optional(),
  customer: z.string().optional(),
  customer_email: z.string().optional(),
  client_reference_id: z.string().max(200).optional(),
  metadata: metadata.optional(),
  payment_intent_data: z
    .object({ metadata: metadata.optional(), setup_future_usage: z.string().optional() })
    .optional(),
  subscription_data: z.object({ metadata: metadata.optional() }).optional(),
  expires_at: whole.optional(),
  allow_promotion_codes: flag.optional(),
  automatic_tax: z.object({ enabled: flag }).optional(),
  invoice_creation: z
    .object({ enabled: flag, invoice_data: z.object({ metadata: metadata.optional() }).optional() })
    .optional(),
});

const HOUR_SEC = 3_600;
const LEAST_LIFE_SEC = HOUR_SEC / 2;

type Wanted = Pick<z.output<typeof createSchema>, 'mode' | 'line_items'>;

/** @throws {Failure} naming the item that is wrong */
function linesOf(store: Store, { mode, line_items }: Wanted) {
  const currencies = new Set<string>();
  const lines: SessionTerms['lines'] = [];
  let hasRecurring = false;
  for (const [index, { price: id, quantity = 1 }] of line_items.entries()) {
    const param = `line_items[${String(index)}][price]`;
    const { active, recurring, currency, unit_amount, product } = store.get('price', id, param);
    if (!active) throw invalid(`The price specified is inactive: ${id}.`, { param });
    if (mode === 'payment' && recurring !== null) {
      throw invalid('You specified `payment` mode but passed a recurring price.', { param: 'mode' });
    }
    currencies.add(currency);
    hasRecurring ||= recurring !== null;
    const { name } = store.get('product', product);
    lines.push({ price: id, quantity, amount: unit_amount * quantity, description: name });
  }
  const [currency = '', another] = currencies;
  if (another !== undefined)
    throw invalid('All prices must have the same currency.', { param: 'line_items' });
  if (mode === 'subscription' && !hasRecurring) {
    throw invalid('You must provide at least one recurring price in `subscription` mode.', { param: 'mode' });
  }
  return { lines, currency };
}

export const CHECKOUT_SESSIONS: Route[] = [
  route('POST /v1/checkout/sessions', ({ double, input }) => {
    const { store, clock, origin } = double;
    const wanted = read(createSchema, input);
    const created = clock.now();
    const { lines, currency } = linesOf(store, wanted);
    if (wanted.success_url === undefined) {
      throw invalid('Missing required param: success_url.', {
        code: 'parameter_missing',
        param: 'success_url',
      });
    }
    const amount = lines.reduce((sum, line) => sum + line.amount, 0);
    if (wanted.mode === 'payment') checkCharge(amount, currency);
    if (wanted.customer !== undefined) {
      const customer = store.get('customer', wanted.customer, 'customer');
      if (wanted.mode === 'subscription' && customer.currency !== null && customer.currency !== currency) {
        throw invalid(
          `You cannot combine currencies on a single customer. This customer has ${customer.currency}.`,
          { param: 'customer' },
        );
      }
    }
    const expires_at = wanted.expires_at ?? created + 24 * HOUR_SEC;
    if (expires_at < created + LEAST_LIFE_SEC || expires_at > created + 24 * HOUR_SEC) {
      throw invalid('`expires_at` must be between 30 minutes and 24 hours from now.', {
        param: 'expires_at',
      });
    }
    const { enabled: isInvoiced = false, invoice_data } = wanted.invoice_creation ?? {};
    if (isInvoiced && wanted.mode === 'subscription') {
      throw invalid('`invoice_creation` can only be enabled in `payment` mode.', {
        param: 'invoice_creation',
      });
    }
    const invoiceMetadata = invoice_data?.metadata ?? {};
    const session = store.add(
      newCheckoutSession({
        created,
        origin,
        mode: wanted.mode,
        amount,
        currency,
        success_url: wanted.success_url,
        cancel_url: wanted.cancel_url ?? null,
        customer: wanted.customer ?? null,
        customer_email: wanted.customer_email ?? null,
        client_reference_id: wanted.client_reference_id ?? null,
        metadata: wanted.metadata ?? {},
        expires_at,
        allow_promotion_codes: wanted.allow_promotion_codes ?? null,
        automatic_tax: wanted.automatic_tax?.enabled ?? false,
        invoice_creation:
          wanted.mode === 'payment' ? { enabled: isInvoiced, metadata: invoiceMetadata } : null,
      }),
    );
    store.terms[session.id] = {
      lines,
      intentMetadata: wanted.payment_intent_data?.metadata ?? {},
      subscriptionMetadata: wanted.subscription_data?.metadata ?? {},
      setupFutureUsage: wanted.payment_intent_data?.setup_future_usage ?? null,
      invoiceMetadata: isInvoiced ? invoiceMetadata : null,
    };
    return session;
  }),
  listRoute('/v1/checkout/sessions', 'checkout.session'),
  getRoute('/v1/checkout/sessions', 'checkout.session'),
  route('POST /v1/checkout/sessions/{id}/expire', ({ double, id }) => {
    const session = double.store.get('checkout.session', id);
    if (session.status !== 'open') {
      throw invalid(
        `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
      );
    }
    return expireSession(double, session);
  }),
];
