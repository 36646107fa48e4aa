import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';

export const sessionsQuery = queryOptions({
  queryKey: ['account', 'sessions'],
  queryFn: ({ signal }) => resultOf(api.GET('/api/console/sessions', { signal })),
});

export const twoFactorQuery = queryOptions({
  queryKey: ['account', 'two-factor'],
  queryFn: ({ signal }) => resultOf(api.GET('/api/console/two-factor', { signal })),
});

export const operatorViewsQuery = queryOptions({
  queryKey: ['account', 'operator-views'],
  queryFn: ({ signal }) => resultOf(api.GET('/api/console/operator-views', { signal })),
});
