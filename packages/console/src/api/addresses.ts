import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from './client.ts';

/** Absolute addresses of the data endpoint and the token endpoint. */
export type Addresses = { dataUrl: string; tokenUrl: string };

/** Where the data and token endpoints are; those of the same origin are found at the page's own address. */
export const addressesQuery = queryOptions({
  queryKey: ['addresses'],
  queryFn: async ({ signal }): Promise<Addresses> => {
    const { streaming_url, auth_url } = await resultOf(api.GET('/api/console/addresses', { signal }));
    return {
      dataUrl: `${streaming_url ?? location.origin}/graphql`,
      tokenUrl: `${auth_url ?? location.origin}/oauth2/token`,
    };
  },
  staleTime: Infinity,
});
