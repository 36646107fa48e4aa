import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from './client.ts';

const RENEW_BEFORE_END_MS = 60_000;

/** The temporary token. It is only in memory, and gone with the query cache at sign-out. */
export const temporaryTokenQuery = queryOptions({
  queryKey: ['temporary-token'],
  queryFn: ({ signal }) => resultOf(api.POST('/api/console/temporary-token', { signal })),
  staleTime: ({ state: { data, dataUpdatedAt } }) =>
    data === undefined ? 0 : Date.parse(data.expires_at) - dataUpdatedAt - RENEW_BEFORE_END_MS,
});
