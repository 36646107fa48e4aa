import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { Filters } from '../../ui/list/filters.tsx';
import { Pagination } from '../../ui/list/pagination.tsx';
import { useListSearch } from '../../ui/list/use-list-search.ts';
import styles from '../../ui/page/page.module.css';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { DeliveryTable } from './delivery-table.tsx';
import { deliveriesQuery } from './queries.ts';
import type { Webhook } from './queries.ts';

const STATUSES = [
  { value: '', label: 'All' },
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
] as const;

/** What was sent, with each attempt; newest first. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const { webhook_id, enabled } = webhook;
  const { current, isFiltered, setFilters, setAfter } = useListSearch();
  const { data, isPending, isError, error, refetch } = useQuery(deliveriesQuery(webhook_id, current));
  const isEmpty = data?.deliveries.length === 0;
  const isUnused = isEmpty && !isFiltered && current.after === undefined;
  return (
    <section className={styles['card']} aria-labelledby="deliveries">
      <div className={styles['header']}>
        <h2 id="deliveries">Deliveries</h2>
        {enabled && <SendTest webhookId={webhook_id} />}
      </div>
      {!isUnused && (
        <Filters>
          <SelectField
            label="Status"
            name="status"
            options={STATUSES}
            value={current.status ?? ''}
            onChange={(status) => {
              setFilters({ status });
            }}
          />
        </Filters>
      )}
      {isPending && <Skeleton />}
      {data === undefined && isError && (
        <ErrorMessage error={error} what="its deliveries" onRetry={() => void refetch()} />
      )}
      {isUnused && (
        <Empty title="No deliveries yet">
          <p>Send a test event to see whether your server receives it.</p>
        </Empty>
      )}
      {isEmpty && !isUnused && <p role="status">No deliveries match.</p>}
      {data !== undefined && !isEmpty && <DeliveryTable deliveries={data.deliveries} webhook={webhook} />}
      <Pagination
        of="deliveries"
        after={current.after}
        nextCursor={data?.next_cursor ?? null}
        onChange={setAfter}
      />
    </section>
  );
}

function SendTest({ webhookId }: { webhookId: number }) {
  const queryClient = useQueryClient();
  const test = useMutation({
    mutationFn: () =>
      resultOf(
        api.POST('/api/console/webhooks/{webhook_id}/test', { params: { path: { webhook_id: webhookId } } }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['webhooks', webhookId] }),
  });
  return (
    <>
      <Button
        isPending={test.isPending}
        onPress={() => {
          test.mutate();
        }}
      >
        Send test event
      </Button>
      {test.isError && <ErrorMessage error={test.error} />}
    </>
  );
}
