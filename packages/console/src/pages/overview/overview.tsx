import { usePrefetchQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ErrorMessage, Empty, Skeleton } from '../../ui/page/states.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Announcements } from './live/announcements.tsx';
import { BusiestApplications } from './busiest-applications.tsx';
import { CrossedThresholds } from './crossed-thresholds.tsx';
import { Limits } from './limits.tsx';
import { PointsPerDay } from './points/points-per-day.tsx';
import { busiestApplicationsQuery } from './queries.ts';
import { Freshness, StatusCard } from './status-card.tsx';
import { useLivePace } from './live/use-live-pace.ts';
import styles from './overview.module.css';

/** `/user`: the status in words, one meter per limit with a forecast, the busiest applications and alerts. Live. */
export function OverviewPage() {
  // Shown below what has no known height yet, so that nothing moves; loaded at once.
  usePrefetchQuery(busiestApplicationsQuery);
  const { data: pace, dataUpdatedAt, error, isPending, isPaused, mode, refetch } = useLivePace();
  return (
    <>
      <PageHeader title="Overview">
        {pace !== undefined && <Freshness isPaused={isPaused} updatedAtMs={dataUpdatedAt} />}
      </PageHeader>
      {isPending && <Skeleton rows={6} />}
      {pace === undefined && error !== null && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {pace === null && (
        <Empty title="You have no plan yet">
          <p>
            Calls to the API are refused until your account has a plan. <Link to="/plan">Choose a plan</Link>.
          </p>
        </Empty>
      )}
      {pace && <StatusCard pace={pace} />}
      {pace && <Limits pace={pace} />}
      {pace && <PointsPerDay period={pace.billing_period} points={pace.limits.points_limit} />}
      {!isPending && (
        <div className={styles['columns']}>
          <BusiestApplications isLive={mode === 'live'} />
          {pace && <CrossedThresholds thresholds={pace.crossed_thresholds} />}
        </div>
      )}
      <Announcements pace={pace} />
    </>
  );
}
