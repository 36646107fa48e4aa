import { queryOptions } from '@tanstack/react-query';
import type { components, paths } from '../../api/schema.d.ts';
import { ApiError, api, nullIf, resultOf } from '../../api/client.ts';
import { operationsQuery } from '../../api/operations.ts';

type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;

export type Pace = Answer<'/api/console/usage/pace'>;

/** Period, limits and pace; null for an account without a billing period. */
export const paceQuery = queryOptions({
  queryKey: ['pace'],
  queryFn: ({ signal }): Promise<Pace | null> =>
    nullIf(404, resultOf(api.GET('/api/console/usage/pace', { signal }))),
  // The page polls in place of retrying, and says so.
  retry: false,
});

const REFUSALS_POLL_MS = 10_000;

export type Refusals = components['schemas']['RefusalCounts'];

/** Refused and failed calls of the last 24 hours, by the hour. They change no usage, so nothing announces them. */
export const recentRefusalsQuery = queryOptions({
  queryKey: ['refusals', 'recent'],
  queryFn: ({ signal }): Promise<Refusals> =>
    resultOf(api.GET('/api/console/refusals/counts', { signal, params: { query: { interval: 'hour' } } })),
  refetchInterval: REFUSALS_POLL_MS,
});

/** The last 24 hours by the hour; each change of the pace refreshes it. */
export const recentCallsQuery = queryOptions({
  queryKey: ['usage', 'recent'],
  queryFn: async ({ signal }) => {
    const query = { interval: 'hour', group_by: 'none' } as const;
    const usage = await resultOf(api.GET('/api/console/usage', { signal, params: { query } }));
    if (typeof usage === 'string') throw new ApiError(null);
    return usage.buckets.map(({ started_at, usage: { requests_usage } }) => ({
      started_at,
      calls: requests_usage,
    }));
  },
});

export type UsedApplication = components['schemas']['UsageByApplication']['groups'][number];

export const busiestApplicationsQuery = queryOptions({
  queryKey: ['usage', 'application'],
  queryFn: async ({ signal }): Promise<UsedApplication[]> => {
    const usage = await resultOf(
      api.GET('/api/console/usage', {
        signal,
        params: { query: { interval: 'day', group_by: 'application' } },
      }),
    );
    if (typeof usage === 'string' || usage.group_by !== 'application') throw new ApiError(null);
    return usage.groups;
  },
});

const DEAREST_DAYS = 30;
const DEAREST_MAX = 3;

/** What the page Operations reads, less often: not with each change of the pace. */
const DEAREST_REFRESH_MS = 60_000;

export const dearestOperationsQuery = queryOptions({
  ...operationsQuery(DEAREST_DAYS),
  queryKey: ['operations', 'dearest'],
  select: ({ operations }) => operations.filter(({ points_usage }) => points_usage > 0).slice(0, DEAREST_MAX),
  refetchInterval: DEAREST_REFRESH_MS,
});
