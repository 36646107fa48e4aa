import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { isViewing } from '../../api/viewing.ts';
import { ErrorMessage, Empty, Skeleton } from '../../ui/page/states.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Announcements } from './live/announcements.tsx';
import { BusiestApplications } from './busiest-applications.tsx';
import { TwoFactorNudge } from '../account/two-factor/nudge.tsx';
import { CrossedThresholds } from './crossed-thresholds.tsx';
import { DearestOperations } from './dearest-operations.tsx';
import { Figures } from './figures.tsx';
import { FirstCall } from './first-call.tsx';
import { hasForecast } from './forecast.ts';
import { Limits } from './limits.tsx';
import { PointsPerDay } from './points/points-per-day.tsx';
import { busiestApplicationsQuery, recentCallsQuery, recentRefusalsQuery } from './queries.ts';
import { areSomeRefused, callsToday } from './recent-calls.ts';
import { Freshness, StatusCard } from './status-card.tsx';
import { useLivePace } from './live/use-live-pace.ts';
import page from '../../ui/page/page.module.css';

/** `/user`: whether calls are accepted, what is wrong, how much is left, and what to do next. Live. */
export function OverviewPage() {
  const {
    data: pace,
    dataUpdatedAt,
    error,
    isPending: isPacePending,
    isPaused,
    mode,
    refetch,
  } = useLivePace();
  const busiest = useQuery(busiestApplicationsQuery);
  const { data: hours } = useQuery(recentCallsQuery);
  const { data: refusals } = useQuery(recentRefusalsQuery);
  // A member's pace is the team's.
  const hasUsage = pace?.payer === null && Object.values(pace.limits).some(({ usage }) => usage > 0);
  const hasCalls = hasUsage || busiest.data?.length !== 0;
  // Without usage in the period, calls before it decide what the page shows.
  const isPending = isPacePending || (!hasUsage && busiest.isPending);
  const shown = isPending ? undefined : pace;
  const areRefused = hours !== undefined && refusals !== undefined && areSomeRefused(hours, refusals);
  // The guide stays when the first call arrives, to say so.
  const [isGuided, setGuided] = useState(false);
  if (!hasCalls && !isGuided) setGuided(true);
  return (
    <>
      <PageHeader title="Overview">
        {pace !== undefined && !isViewing && <Freshness isPaused={isPaused} updatedAtMs={dataUpdatedAt} />}
      </PageHeader>
      {isPending && <Skeleton rows={6} />}
      {pace === undefined && error !== null && (
        <ErrorMessage error={error} what="your limits" onRetry={() => void refetch()} />
      )}
      {shown === null && (
        <Empty title="You have no plan yet">
          <p>
            Calls to the API are refused until your account has a plan. <Link to="/plan">Choose a plan</Link>.
          </p>
        </Empty>
      )}
      {shown && <StatusCard pace={shown} areSomeRefused={areRefused} />}
      {shown && isGuided && !isViewing && <FirstCall hasArrived={hasCalls} />}
      {shown && (
        <Figures
          pace={shown}
          callsToday={hours === undefined ? undefined : callsToday(hours)}
          refusals={refusals}
        />
      )}
      {shown && <Limits pace={shown} />}
      {shown && hasCalls && (
        <PointsPerDay
          period={shown.billing_period}
          points={shown.limits.points_limit}
          hasForecast={hasForecast(shown)}
        />
      )}
      {!isPending && hasCalls && (
        <div className={page['columns']}>
          <BusiestApplications isLive={mode === 'live'} />
          <DearestOperations />
          {shown && <CrossedThresholds thresholds={shown.crossed_thresholds} />}
        </div>
      )}
      {!isPending && <TwoFactorNudge />}
      <Announcements pace={pace} />
    </>
  );
}
