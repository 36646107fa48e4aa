import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';

export type AlertSettings = components['schemas']['AlertSettings'];

export type AlertLimit = keyof AlertSettings['limits'];

export const alertsQuery = queryOptions({
  queryKey: ['alerts'],
  queryFn: ({ signal }) => resultOf(api.GET('/api/console/alerts', { signal })),
});
