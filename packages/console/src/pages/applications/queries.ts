import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import { usageQuery } from '../../api/usage.ts';
import type { components, operations } from '../../api/schema.d.ts';
import type { Status } from './status.tsx';
import { cursorOf } from '../../ui/list/list-search.ts';
import type { ListSearch } from '../../ui/list/list-search.ts';

const PAGE_SIZE = 25;

const STATUSES: readonly string[] = ['active', 'revoked'] satisfies Status[];

/** One page of the account's applications, newest first. */
export function applicationsQuery(wanted: ListSearch) {
  const { search, status } = wanted;
  const cursor = cursorOf(wanted);
  const query = {
    limit: PAGE_SIZE,
    ...(search === undefined ? {} : { search }),
    ...(isStatus(status) ? { status } : {}),
    ...(cursor === undefined ? {} : { cursor }),
  };
  return queryOptions({
    queryKey: ['applications', 'list', query],
    queryFn: ({ signal }) => resultOf(api.GET('/api/console/applications', { signal, params: { query } })),
    placeholderData: keepPreviousData,
  });
}

function isStatus(status: string | undefined): status is Status {
  return status !== undefined && STATUSES.includes(status);
}

/** Points of the last 30 days, by application. */
export const pointsQuery = queryOptions({
  ...usageQuery({ interval: 'day', group_by: 'application' }),
  select: (usage) =>
    new Map(
      usage.group_by === 'application'
        ? usage.groups.map(({ application_id, usage: { points_usage } }) => [application_id, points_usage])
        : [],
    ),
});

/** An application, with when its live secrets were created. */
export type ApplicationWithSecrets =
  operations['getApplication']['responses'][200]['content']['application/json'];

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

export type ApplicationBudget = components['schemas']['ApplicationBudget'];

export function applicationBudgetQuery(applicationId: number) {
  return queryOptions({
    queryKey: ['applications', applicationId, 'budget'],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/applications/{application_id}/budget', {
          signal,
          params: { path: { application_id: applicationId } },
        }),
      ),
  });
}

export type TrustedDocumentList = components['schemas']['TrustedDocumentList'];

export function trustedDocumentsQuery(applicationId: number) {
  return queryOptions({
    queryKey: ['applications', applicationId, 'trusted-documents'],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/applications/{application_id}/trusted-documents', {
          signal,
          params: { path: { application_id: applicationId } },
        }),
      ),
  });
}
