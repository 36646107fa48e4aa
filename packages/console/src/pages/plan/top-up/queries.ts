import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';

export type TopUpSettings = components['schemas']['TopUpSettings'];
export type TopUpAttempt = components['schemas']['TopUp'];

/** A top-up takes seconds, and is what one looks for after switching it on. */
const INTERVAL_MS = 5_000;

export const topUpQuery = queryOptions({
  queryKey: ['top-up', 'settings'],
  queryFn: async ({ signal }) => (await resultOf(api.GET('/api/console/top-up', { signal }))).top_up,
  refetchInterval: INTERVAL_MS,
});

export const topUpsQuery = queryOptions({
  queryKey: ['top-up', 'attempts'],
  queryFn: async ({ signal }) =>
    (await resultOf(api.GET('/api/console/top-ups', { signal, params: { query: { limit: 5 } } }))).top_ups,
  refetchInterval: INTERVAL_MS,
});
