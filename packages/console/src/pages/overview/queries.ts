import { queryOptions } from '@tanstack/react-query';
import { ApiError, api, nullIf, resultOf } from '../../api/client.ts';

/** Usage changes with every call: a call made elsewhere appears within two seconds. */
const LIVE_INTERVAL_MS = 2_000;

/** Period, limits and pace; null for an account without a billing period. */
export const paceQuery = queryOptions({
  queryKey: ['pace'],
  queryFn: ({ signal }) => nullIf(404, resultOf(api.GET('/api/console/usage/pace', { signal }))),
  refetchInterval: LIVE_INTERVAL_MS,
});

export const busiestApplicationsQuery = queryOptions({
  queryKey: ['usage', 'application'],
  queryFn: async ({ signal }) => {
    const usage = await resultOf(
      api.GET('/api/console/usage', {
        signal,
        params: { query: { interval: 'day', group_by: 'application' } },
      }),
    );
    if (typeof usage === 'string' || usage.group_by !== 'application') throw new ApiError(null);
    return usage.groups;
  },
  refetchInterval: LIVE_INTERVAL_MS * 2,
});
