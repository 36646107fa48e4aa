import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { ApiError, api, resultOf } from './client.ts';
import { fileNameOf } from './downloads.ts';
import type { Download } from './downloads.ts';
import type { components } from './schema.d.ts';
import { serverNowMs } from './server-clock.ts';

export type OperationUsage = components['schemas']['UsageByOperation'];
export type UsedOperation = OperationUsage['operations'][number];

const DAY_MS = 86_400_000;
const REFRESH_MS = 10_000;

/** The UTC day with which so many days begin, today included. */
function firstDay(days: number): string {
  return new Date(serverNowMs() - (days - 1) * DAY_MS).toISOString().slice(0, '2026-07-01'.length);
}

/** Which GraphQL operations used the points of so many days. */
export function operationsQuery(days: number) {
  return queryOptions({
    queryKey: ['usage', 'operations', days],
    queryFn: async ({ signal }): Promise<OperationUsage> => {
      const query = { from: firstDay(days), format: 'json' } as const;
      const usage = await resultOf(api.GET('/api/console/usage/operations', { signal, params: { query } }));
      if (typeof usage === 'string') throw new ApiError(null);
      return usage;
    },
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

export async function fetchOperationsCsv(days: number): Promise<Download> {
  const query = { from: firstDay(days), format: 'csv' } as const;
  const outcome = api.GET('/api/console/usage/operations', { params: { query }, parseAs: 'blob' });
  const content = await resultOf<Blob>(outcome);
  const { response } = await outcome;
  return { name: fileNameOf(response) ?? 'operations.csv', content };
}
