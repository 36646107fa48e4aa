import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';

export const applicationsQuery = queryOptions({
  queryKey: ['applications'],
  queryFn: ({ signal }) =>
    resultOf(api.GET('/api/console/applications', { signal, params: { query: { limit: 200 } } })),
});

export function applicationQuery(applicationId: number) {
  return queryOptions({
    queryKey: ['applications', applicationId],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/applications/{application_id}', {
          signal,
          params: { path: { application_id: applicationId } },
        }),
      ),
  });
}

export function applicationTokensQuery(applicationId: number) {
  return queryOptions({
    queryKey: ['applications', applicationId, 'tokens'],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/applications/{application_id}/tokens', {
          signal,
          params: { path: { application_id: applicationId }, query: { limit: 200 } },
        }),
      ),
  });
}
