import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from './client.ts';
import type { paths } from './schema.d.ts';

type Answer = paths['/api/console/explorer/examples']['get']['responses'][200]['content']['application/json'];

export type Example = Answer['examples'][number];

/** The operator's examples of operations (EXPLORER_EXAMPLES). */
export const examplesQuery = queryOptions({
  queryKey: ['explorer', 'examples'],
  queryFn: async ({ signal }) =>
    (await resultOf(api.GET('/api/console/explorer/examples', { signal }))).examples,
  staleTime: Infinity,
});
