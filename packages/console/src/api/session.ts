import { queryOptions } from '@tanstack/react-query';
import { api, nullIf, resultOf, setCsrfToken } from './client.ts';
import type { Session } from './client.ts';

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
