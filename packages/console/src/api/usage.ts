import { queryOptions } from '@tanstack/react-query';
import { ApiError, api, nullIf, resultOf } from './client.ts';
import { fileNameOf } from './downloads.ts';
import type { Download } from './downloads.ts';
import { serverNowMs } from './server-clock.ts';
import type { components, paths } from './schema.d.ts';

type Schemas = components['schemas'];

export type Usage =
  | Schemas['UsageByTime']
  | Schemas['UsageByApplication']
  | Schemas['UsageByMember']
  | Schemas['UsageByApiVersion'];

export type UsageFigures = Usage['usage'];

export type BillingPeriod = Schemas['BillingPeriod'];

type UsageParameters = NonNullable<paths['/api/console/usage']['get']['parameters']['query']>;

/** Without `to`, up to now by the server's clock. */
export type UsageRequest = Pick<
  UsageParameters,
  'interval' | 'from' | 'to' | 'period_id' | 'group_by' | 'application_id'
>;

const REFRESH_MS = 10_000;
/** Ranges looked at before are there at once. */
const KEPT_MS = 30 * 60_000;

/** Usage by day or hour of UTC. One that reaches up to now is refreshed, and so is a billing period that runs. */
export function usageQuery(request: UsageRequest) {
  return queryOptions({
    queryKey: ['usage', request],
    queryFn: async ({ signal }): Promise<Usage> => {
      const query = { ...request, format: 'json' } as const;
      const usage = await resultOf(api.GET('/api/console/usage', { signal, params: { query } }));
      if (typeof usage === 'string') throw new ApiError(null);
      return usage;
    },
    gcTime: KEPT_MS,
    ...(request.to === undefined
      ? { refetchInterval: ({ state }: Fetched) => (isOver(state.data) ? false : REFRESH_MS) }
      : {}),
  });
}

type Fetched = { state: { data: Usage | undefined } };

function isOver(usage: Usage | undefined): boolean {
  const period = usage?.billing_period ?? null;
  return period !== null && Date.parse(period.ended_at) < serverNowMs();
}

/** The same usage as a CSV file, and the name that the API gives it. */
export async function fetchUsageCsv(request: UsageRequest): Promise<Download> {
  const query = { ...request, format: 'csv' } as const;
  const outcome = api.GET('/api/console/usage', { params: { query }, parseAs: 'blob' });
  const content = await resultOf<Blob>(outcome);
  const { response } = await outcome;
  return { name: fileNameOf(response) ?? 'usage.csv', content };
}

/** The billing period that the account's calls are charged to; null without one. */
export const payerPeriodQuery = queryOptions({
  queryKey: ['payer-period'],
  queryFn: async ({ signal }) => {
    const pace = await nullIf(404, resultOf(api.GET('/api/console/usage/pace', { signal })));
    return pace?.billing_period ?? null;
  },
  gcTime: KEPT_MS,
});
