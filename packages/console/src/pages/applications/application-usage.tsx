import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { usageQuery } from '../../api/usage.ts';
import page from '../../ui/page/page.module.css';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { rangeName } from '../../ui/usage/bucket-time.ts';
import { UsageChart } from '../../ui/usage/usage-chart.tsx';
import { UsageTable } from '../../ui/usage/usage-table.tsx';

/** What one application used in the last 30 days, as a chart and its table. */
export function ApplicationUsage({ applicationId }: { applicationId: number }) {
  const request = { interval: 'day', group_by: 'none', application_id: applicationId } as const;
  const { data, isPending, isError, error, refetch } = useQuery(usageQuery(request));
  return (
    <section className={page['card']} aria-labelledby="usage">
      <div className={page['header']}>
        <h2 id="usage">Usage, last 30 days</h2>
        <Link to="/usage" search={{ group: 'application' }}>
          Compare applications
        </Link>
      </div>
      {isPending && <Skeleton rows={8} />}
      {data === undefined && isError && (
        <ErrorMessage error={error} what="its usage" onRetry={() => void refetch()} />
      )}
      {data?.usage.requests_usage === 0 && data.usage.points_usage === 0 && (
        <p>
          No usage from {rangeName(data)} (UTC). Call the API with this application’s credentials to see it
          here.
        </p>
      )}
      {data !== undefined && (data.usage.requests_usage > 0 || data.usage.points_usage > 0) && (
        <>
          <UsageChart usage={data} measure="points" />
          <UsageTable usage={data} measure="points" />
        </>
      )}
    </section>
  );
}
