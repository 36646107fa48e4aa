import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';

/** The manually created tokens of all applications, newest first. */
export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) =>
    resultOf(api.GET('/api/console/tokens', { signal, params: { query: { limit: 200 } } })),
});
