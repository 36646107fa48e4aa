import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';

export type Connection = components['schemas']['Connection'];

/** The applications that act for the account, newest first. */
export const connectionsQuery = queryOptions({
  queryKey: ['connections'],
  queryFn: async ({ signal }) =>
    (await resultOf(api.GET('/api/console/connections', { signal }))).connections,
});
