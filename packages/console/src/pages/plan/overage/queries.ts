import { queryOptions, skipToken } from '@tanstack/react-query';
import { api, resultOf } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';

export type Overage = components['schemas']['Overage'];
export type OverageCharge = components['schemas']['OverageCharge'];

/** What calls use shows within seconds. */
const INTERVAL_MS = 5_000;

/** What is set and used, and what is charged: after a change all of it is asked for again. */
export const OVERAGE_KEY = ['overage'];

export const overageQuery = queryOptions({
  queryKey: [...OVERAGE_KEY, 'settings'],
  queryFn: async ({ signal }) => (await resultOf(api.GET('/api/console/overage', { signal }))).overage,
  refetchInterval: INTERVAL_MS,
});

/** What a limit costs at most, in the minor unit; nothing is asked of a text that is no number. */
export const costQuery = (cap_points: number | undefined) =>
  queryOptions({
    queryKey: [...OVERAGE_KEY, 'cost', cap_points],
    queryFn:
      cap_points === undefined
        ? skipToken
        : async ({ signal }) => {
            const options = { signal, params: { query: { cap_points } } };
            return (await resultOf(api.GET('/api/console/overage', options))).overage.max_amount;
          },
  });

export const chargesQuery = queryOptions({
  queryKey: [...OVERAGE_KEY, 'charges'],
  queryFn: async ({ signal }) =>
    (await resultOf(api.GET('/api/console/overage-charges', { signal, params: { query: { limit: 5 } } })))
      .charges,
});
