import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from './client.ts';

/** The largest page of the API: older ones are on the page Tokens. */
const LIMIT = 200;

/** The newest manually created tokens, without their secrets, to be found by name. */
export const allTokensQuery = queryOptions({
  queryKey: ['tokens', 'all'],
  queryFn: async ({ signal }) =>
    (await resultOf(api.GET('/api/console/tokens', { signal, params: { query: { limit: LIMIT } } }))).tokens,
});
