import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';

export type AccountDeletion = components['schemas']['AccountDeletion'];

export const deletionQuery = queryOptions({
  queryKey: ['account', 'deletion'],
  queryFn: ({ signal }) => resultOf(api.GET('/api/console/account/deletion', { signal })),
});
