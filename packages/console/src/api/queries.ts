import { queryOptions } from '@tanstack/react-query';
import { ApiError, api, resultOf, setCsrfToken } from './client.ts';
import type { Session } from './client.ts';

/** Usage changes with every call: a call made elsewhere appears within two seconds. */
const LIVE_INTERVAL_MS = 2_000;

/** Who is signed in; null without a session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<Session | null> => {
    const session = await nullIf(401, resultOf(api.GET('/api/console/session', { signal })));
    if (session !== null) setCsrfToken(session.csrf_token);
    return session;
  },
  staleTime: 60_000,
});

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

/** The manually created tokens of all applications, newest first. */
export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) =>
    resultOf(api.GET('/api/console/tokens', { signal, params: { query: { limit: 200 } } })),
});

/** The result, or null if the API responds with this status. */
async function nullIf<T>(status: number, result: Promise<T>): Promise<T | null> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof ApiError && error.problem?.status === status) return null;
    throw error;
  }
}
