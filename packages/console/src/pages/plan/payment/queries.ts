import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';

export type Checkout = components['schemas']['SubscriptionCheckout'];
export type Invoice = components['schemas']['Invoice'];

/** The payment provider tells of a payment within seconds, normally. */
const CHECKOUT_INTERVAL_MS = 2_000;

/** Asked for until it is decided. */
export function checkoutQuery(checkout_id: number) {
  return queryOptions({
    queryKey: ['plan', 'checkout', checkout_id],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/subscription/checkouts/{checkout_id}', {
          signal,
          params: { path: { checkout_id } },
        }),
      ),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && !isDecided(data) ? CHECKOUT_INTERVAL_MS : false,
  });
}

/** Whether the plan has started or can't any more. */
export function isDecided({ state }: Checkout): boolean {
  return state !== 'open' && state !== 'processing';
}

/** Often enough for who comes back from the payment page. */
const UNPAID_INTERVAL_MS = 3_000;

export const invoicesQuery = queryOptions({
  queryKey: ['plan', 'invoices'],
  queryFn: async ({ signal }) =>
    (await resultOf(api.GET('/api/console/invoices', { signal, params: { query: { limit: 12 } } }))).invoices,
  refetchInterval: ({ state }) => (state.data?.some(isOpen) === true ? UNPAID_INTERVAL_MS : false),
});

export function isOpen({ state }: Invoice): boolean {
  return state === 'open';
}
