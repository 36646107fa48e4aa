import { queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';

export type AlertSettings = components['schemas']['AlertSettings'];

/** What the form changes. */
export type ChosenSettings = Pick<AlertSettings, 'mail' | 'shares' | 'limits'>;

export type AlertLimit = keyof AlertSettings['limits'];

export const alertsQuery = queryOptions({
  queryKey: ['alerts'],
  queryFn: ({ signal }) => resultOf(api.GET('/api/console/alerts', { signal })),
});

export type RecentAlert = components['schemas']['RecentAlert'];

/** The latest alerts and tests, newest first. */
export const recentAlertsQuery = queryOptions({
  queryKey: ['alerts', 'recent'],
  queryFn: async ({ signal }) => (await resultOf(api.GET('/api/console/alerts/recent', { signal }))).alerts,
});
