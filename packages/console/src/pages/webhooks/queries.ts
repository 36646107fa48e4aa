import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { cursorOf } from '../../ui/list/list-search.ts';
import type { ListSearch } from '../../ui/list/list-search.ts';

export type Webhook = components['schemas']['Webhook'];
export type Delivery = components['schemas']['WebhookDelivery'];

const PAGE_SIZE = 25;

/** While a delivery is pending, its outcome appears by itself. */
const PENDING_INTERVAL_MS = 2_000;

const STATUSES = ['pending', 'delivered', 'failed'] as const satisfies readonly Delivery['status'][];

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: async ({ signal }) => (await resultOf(api.GET('/api/console/webhooks', { signal }))).webhooks,
});

export function webhookQuery(webhookId: number) {
  return queryOptions({
    queryKey: ['webhooks', webhookId],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/webhooks/{webhook_id}', {
          signal,
          params: { path: { webhook_id: webhookId } },
        }),
      ),
  });
}

/** One page of a webhook's deliveries, newest first. */
export function deliveriesQuery(webhookId: number, wanted: ListSearch) {
  const cursor = cursorOf(wanted);
  const status = STATUSES.find((one) => one === wanted.status);
  const query = {
    limit: PAGE_SIZE,
    ...(status === undefined ? {} : { status }),
    ...(cursor === undefined ? {} : { cursor }),
  };
  return queryOptions({
    queryKey: ['webhooks', webhookId, 'deliveries', query],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/webhooks/{webhook_id}/deliveries', {
          signal,
          params: { path: { webhook_id: webhookId }, query },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.deliveries.some((delivery) => delivery.status === 'pending') === true
        ? PENDING_INTERVAL_MS
        : false,
  });
}
