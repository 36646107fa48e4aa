import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, resultOf } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';

export type Pack = components['schemas']['OfferedPack'];
export type Purchase = components['schemas']['Purchase'];
export type Grant = components['schemas']['Credits']['credits']['grants'][number];

const CREDITS_INTERVAL_MS = 30_000;

/** The payment provider tells of a payment within seconds, normally. */
const PURCHASE_INTERVAL_MS = 2_000;

/** What the payer has beside the plan's points, in order of use; further points have a place of their own. */
export const creditsQuery = queryOptions({
  queryKey: ['credits', 'own'],
  queryFn: async ({ signal }) => (await resultOf(api.GET('/api/console/credits', { signal }))).credits,
  refetchInterval: CREDITS_INTERVAL_MS,
});

/** Points that stay whatever becomes of the plan; 0 until they are known. */
export function useCreditsLeft(): number {
  return useQuery(creditsQuery).data?.points_remaining ?? 0;
}

export const packsQuery = queryOptions({
  queryKey: ['credits', 'packs'],
  queryFn: async ({ signal }) => (await resultOf(api.GET('/api/console/packs', { signal }))).packs,
});

export const purchasesQuery = queryOptions({
  queryKey: ['credits', 'purchases'],
  queryFn: async ({ signal }) =>
    (await resultOf(api.GET('/api/console/purchases', { signal, params: { query: { limit: 10 } } })))
      .purchases,
});

/** Asked for until it is decided. */
export function purchaseQuery(purchase_id: number) {
  return queryOptions({
    queryKey: ['credits', 'purchase', purchase_id],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/purchases/{purchase_id}', { signal, params: { path: { purchase_id } } }),
      ),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && !isDecided(data) ? PURCHASE_INTERVAL_MS : false,
  });
}

/** Whether the payment has succeeded or can't any more. */
export function isDecided({ state }: Purchase): boolean {
  return state !== 'open' && state !== 'processing';
}
