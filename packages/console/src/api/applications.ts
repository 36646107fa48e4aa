import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from './client.ts';
import type { Application } from './client.ts';

/** All applications by name, to choose from; an account has at most a few hundred. */
export const allApplicationsQuery = queryOptions({
  queryKey: ['applications', 'all'],
  queryFn: async ({ signal }) => {
    const all: Application[] = [];
    let cursor: string | null = null;
    do {
      const query: { limit: number; cursor?: string } = {
        limit: 200,
        ...(cursor === null ? {} : { cursor }),
      };
      const page = await resultOf(api.GET('/api/console/applications', { signal, params: { query } }));
      all.push(...page.applications);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return all.toSorted((one, other) => one.name.localeCompare(other.name));
  },
});
