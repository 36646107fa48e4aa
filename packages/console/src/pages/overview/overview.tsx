import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { busiestApplicationsQuery, paceQuery } from './queries.ts';
import { daysUntil, formatDay, formatNumber, formatShare } from '../../ui/format.ts';
import { Badge, Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { LimitMeter } from './limit-meter.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import styles from '../../ui/page/page.module.css';

const BUSIEST_MAX = 5;

type Status = 'active' | 'grace' | 'blocked' | 'expired';

const STATUS: Record<Status, { tone: 'good' | 'warning' | 'danger'; label: string; advice: string }> = {
  active: { tone: 'good', label: 'Active', advice: 'Your plan is active.' },
  grace: {
    tone: 'warning',
    label: 'Grace period',
    advice: 'Your billing period has ended. Calls still work for a short time: renew your plan now.',
  },
  blocked: {
    tone: 'danger',
    label: 'Blocked',
    advice: 'Your account is blocked. Calls are refused, and you cannot create credentials. Contact support.',
  },
  expired: {
    tone: 'danger',
    label: 'Expired',
    advice: 'Your billing period has ended. Calls are refused until you renew your plan.',
  },
};

/** `/user`: the status in words, one meter per limit with a forecast, and the busiest applications. Live. */
export function OverviewPage() {
  const pace = useQuery(paceQuery);
  return (
    <>
      <PageHeader title="Overview" />
      {pace.data === undefined && pace.isPending && <Skeleton rows={6} />}
      {pace.data === undefined && pace.isError && (
        <ErrorMessage error={pace.error} onRetry={() => void pace.refetch()} />
      )}
      {pace.data === null && (
        <Empty title="You have no plan yet">
          <p>Calls to the API are refused until your account has a plan. Contact sales to get one.</p>
        </Empty>
      )}
      {pace.data !== undefined && pace.data !== null && <Period pace={pace.data} isStale={pace.isError} />}
      <BusiestApplications />
    </>
  );
}

type PaceData = NonNullable<Awaited<ReturnType<NonNullable<typeof paceQuery.queryFn>>>>;

function Period({ pace, isStale }: { pace: PaceData; isStale: boolean }) {
  const { billing_period: period, limits } = pace;
  const { tone, label, advice } = STATUS[pace.status];
  const daysLeft = daysUntil(period.ended_at);
  return (
    <>
      <section className={styles['card']} aria-label="Plan">
        <p className={styles['actions']}>
          <Badge tone={tone}>{label}</Badge> <span>{advice}</span>
        </p>
        <dl className={styles['facts']}>
          <dt>Plan</dt>
          <dd>{period.plan_name}</dd>
          <dt>Billing period</dt>
          <dd>
            {formatDay(period.started_at)} to {formatDay(period.ended_at)}, {formatNumber(daysLeft)}{' '}
            {daysLeft === 1 ? 'day' : 'days'} left
          </dd>
        </dl>
        {isStale && <p role="status">Live figures are paused: Tollgate cannot be reached.</p>}
      </section>
      <section aria-labelledby="limits" className={styles['card']}>
        <h2 id="limits">Limits</h2>
        <p className={styles['muted']}>{formatShare(pace.elapsed_share)} of the billing period has passed.</p>
        {Object.keys(limits).length === 0 && <p>Your plan limits neither points, time nor traffic.</p>}
        <div className={styles['limits']}>
          {limits.points_limit && <LimitMeter name="Points" limit={limits.points_limit} />}
          {limits.time_sec_limit && (
            <LimitMeter name="Streaming time" unit="seconds" limit={limits.time_sec_limit} />
          )}
          {limits.traffic_bytes_limit && (
            <LimitMeter name="Traffic" unit="bytes" limit={limits.traffic_bytes_limit} />
          )}
        </div>
      </section>
    </>
  );
}

function BusiestApplications() {
  const { data, isError, error, refetch } = useQuery(busiestApplicationsQuery);
  return (
    <section aria-labelledby="busiest" className={styles['card']}>
      <h2 id="busiest">Busiest applications, last 30 days</h2>
      {data === undefined && isError && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && (
        <p>
          No calls yet. <Link to="/api_v2/applications">Create an application</Link> to get a token.
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        <table className={styles['table']}>
          <thead>
            <tr>
              <th scope="col">Application</th>
              <th scope="col" className={styles['number']}>
                Points
              </th>
              <th scope="col" className={styles['number']}>
                Requests
              </th>
            </tr>
          </thead>
          <tbody>
            {data.slice(0, BUSIEST_MAX).map(({ application_id, name, type, usage }) => (
              <tr key={application_id}>
                <td>{type === 'temporary' ? 'Temporary token' : (name ?? 'Another system')}</td>
                <td className={styles['number']}>{formatNumber(usage.points_usage)}</td>
                <td className={styles['number']}>{formatNumber(usage.requests_usage)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
