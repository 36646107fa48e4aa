import { queryOptions } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { ApiError, api, resultOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';

export type Plan = components['schemas']['PublicPlan'];
export type Subscription = components['schemas']['Subscription'];
export type Preview = components['schemas']['SubscriptionPreview'];
export type ChangePrice = components['schemas']['ChangePrice'];
export type Interval = 'month' | 'year';
export type Effect = 'now' | 'period_end';

const STATUS_INTERVAL_MS = 30_000;

/** A period lasts two seconds at least, so a change of a younger one starts after them. */
const STARTING_INTERVAL_MS = 1_000;

/** Who pays, the current period, and what can be changed. */
export const subscriptionQuery = queryOptions({
  queryKey: ['plan', 'subscription'],
  queryFn: ({ signal }) => resultOf(api.GET('/api/console/subscription', { signal })),
  refetchInterval: ({ state }) => (isStarting(state.data) ? STARTING_INTERVAL_MS : STATUS_INTERVAL_MS),
});

/** Of a team's member: what they subscribed to themselves. A role may make the plan above the manager's. */
export const ownSubscriptionQuery = (account_id: number) =>
  queryOptions({
    queryKey: [...subscriptionQuery.queryKey, account_id],
    queryFn: ({ signal }) =>
      resultOf(api.GET('/api/console/subscription', { signal, params: { query: { account_id } } })),
  });

function isStarting(shown: Subscription | undefined): boolean {
  if (shown === undefined || shown.subscription === null || shown.payer.account_id !== shown.account_id)
    return false;
  return shown.status === 'active' && shown.billing_period?.plan_id !== shown.subscription.plan_id;
}

export const catalogueQuery = queryOptions({
  queryKey: ['plan', 'catalogue'],
  queryFn: async ({ signal }) => (await resultOf(api.GET('/api/console/plans', { signal }))).plans,
});

/** The latest of the account's own periods, newest first: some may be too short to say what it needs. */
export const recentPeriodsQuery = queryOptions({
  queryKey: ['plan', 'periods'],
  queryFn: async ({ signal }) =>
    (await resultOf(api.GET('/api/console/periods', { signal, params: { query: { limit: 10 } } }))).periods,
});

/** What a plan would mean if it were confirmed now. */
export function previewQuery(plan_id: number, billing_interval: Interval) {
  return queryOptions({
    queryKey: ['plan', 'preview', plan_id, billing_interval],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/subscription/preview', {
          signal,
          params: { query: { plan_id, billing_interval } },
        }),
      ),
    gcTime: 0,
  });
}

/** What starting a plan now would be charged with, which falls every hour. */
export function upgradePriceQuery(plan_id: number, billing_interval: Interval) {
  return queryOptions({
    queryKey: ['plan', 'upgrade', plan_id, billing_interval],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/subscription/upgrade', {
          signal,
          params: { query: { plan_id, billing_interval } },
        }),
      ),
    gcTime: 0,
  });
}

/** What more team slots would be charged with now. */
export function slotsPriceQuery(team_slots_limit: number) {
  return queryOptions({
    queryKey: ['plan', 'team-slots', team_slots_limit],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/subscription/team-slots', { signal, params: { query: { team_slots_limit } } }),
      ),
    gcTime: 0,
  });
}

/** Sends a change and shows its result wherever that plan is shown. A refusal shows what has changed instead. */
export async function changing(client: QueryClient, change: Promise<Subscription>): Promise<Subscription> {
  const changed = await refreshingIfRefused(client, change);
  client.setQueriesData<Subscription>({ queryKey: subscriptionQuery.queryKey }, (shown) =>
    shown?.account_id === changed.account_id ? changed : shown,
  );
  void client.invalidateQueries({ queryKey: ['pace'] });
  return changed;
}

/** A refusal means that the page shows what isn't so any more. */
export async function refreshingIfRefused<Result>(
  client: QueryClient,
  change: Promise<Result>,
): Promise<Result> {
  try {
    return await change;
  } catch (error) {
    if (error instanceof ApiError) await client.invalidateQueries({ queryKey: ['plan'] });
    throw error;
  }
}
