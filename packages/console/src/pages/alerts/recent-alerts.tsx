import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { formatShare } from '../../ui/format.ts';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import styles from '../../ui/page/page.module.css';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { recentAlertsQuery } from './queries.ts';
import type { RecentAlert } from './queries.ts';
import { LIMIT_LABELS } from './settings-text.ts';

/** When alerts were sent last, and whether one arrives. */
export function RecentAlerts() {
  const { data, isPending, error, refetch } = useQuery(recentAlertsQuery);
  const queryClient = useQueryClient();
  const sending = useMutation({
    mutationFn: () => resultOf(api.POST('/api/console/alerts/test')),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: recentAlertsQuery.queryKey }),
  });
  return (
    <section className={styles['card']} aria-labelledby="recent">
      <div className={styles['header']}>
        <h2 id="recent">Last sent</h2>
        <div className={styles['actions']}>
          <p role="status" className={styles['muted']}>
            {sending.isSuccess && `Test sent to ${sending.data.email}.`}
          </p>
          <Button
            isPending={sending.isPending}
            onPress={() => {
              sending.mutate();
            }}
          >
            Send test
          </Button>
        </div>
      </div>
      {sending.isError && <ErrorMessage error={sending.error} isChange />}
      {isPending && <Skeleton />}
      {data === undefined && !isPending && (
        <ErrorMessage error={error} what="your latest alerts" onRetry={() => void refetch()} />
      )}
      {data?.length === 0 && <p>No alerts sent yet. Send a test to check delivery.</p>}
      {data !== undefined && data.length > 0 && (
        <Table
          label="Last sent"
          rows={data}
          keyOf={(alert) =>
            `${alert.created_at} ${nameOf(alert)} ${String(alert.budget?.account_id)} ${String(alert.budget?.application_id)}`
          }
          columns={[
            { label: 'Alert', onCard: 'title', cell: nameOf },
            { label: 'Sent', cell: ({ created_at }) => <Moment at={created_at} /> },
          ]}
        />
      )}
    </section>
  );
}

function nameOf({ limit, budget, share_percent }: RecentAlert): string {
  if (limit === null || share_percent === null) return 'Test';
  const share = formatShare(share_percent / 100);
  if (limit === 'application_budget' || limit === 'member_budget') {
    const window = budget?.window === 'day' ? 'daily budget' : 'budget per period';
    return `${budget?.name ?? ''}: ${share} of the ${window}`;
  }
  return `${LIMIT_LABELS[limit]}: ${share} of the limit`;
}
