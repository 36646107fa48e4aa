import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import type { Token } from '../../api/client.ts';
import { cursorOf } from '../../ui/list/list-search.ts';
import type { ListSearch } from '../../ui/list/list-search.ts';

const PAGE_SIZE = 25;

const STATUSES = ['Active', 'Expired', 'Revoked'] as const satisfies readonly Token['status'][];

/** For the filter of a list of tokens. */
export const STATUS_OPTIONS = [
  { value: '', label: 'All' },
  ...STATUSES.map((status) => ({ value: status, label: status })),
];

/** One page of the manually created tokens of all applications, newest first. */
export function tokensQuery(wanted: ListSearch) {
  const { application } = wanted;
  const query = {
    ...tokenQuery(wanted),
    ...(application === undefined ? {} : { application_id: application }),
  };
  return queryOptions({
    queryKey: ['tokens', query],
    queryFn: ({ signal }) => resultOf(api.GET('/api/console/tokens', { signal, params: { query } })),
    placeholderData: keepPreviousData,
  });
}

/** One page of the manually created tokens of an application, newest first. */
export function applicationTokensQuery(applicationId: number, wanted: ListSearch) {
  const query = tokenQuery(wanted);
  return queryOptions({
    queryKey: ['tokens', 'of', applicationId, query],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/applications/{application_id}/tokens', {
          signal,
          params: { path: { application_id: applicationId }, query },
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

function tokenQuery(wanted: ListSearch) {
  const cursor = cursorOf(wanted);
  const status = STATUSES.find((one) => one === wanted.status);
  return {
    limit: PAGE_SIZE,
    ...(wanted.search === undefined ? {} : { search: wanted.search }),
    ...(status === undefined ? {} : { status }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

/** When the temporary token changes; null if there is none. The token itself is fetched only to be copied. */
export const temporaryTokenExpiryQuery = queryOptions({
  queryKey: ['temporary-token', 'expiry'],
  queryFn: async () => (await resultOf(api.GET('/api/console/temporary-token'))).expires_at,
  retry: false,
});
