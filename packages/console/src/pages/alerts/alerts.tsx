import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { teamQuery } from '../team/queries.ts';
import { AlertForm } from './alert-form.tsx';
import { alertsQuery } from './queries.ts';
import { RecentAlerts } from './recent-alerts.tsx';
import type { AlertSettings } from './queries.ts';

/** `/user/alerts`: at which thresholds of which limits you are told, and how. */
export function AlertsPage() {
  const { data, isPending, error, refetch } = useQuery(alertsQuery);
  const { data: team } = useQuery(teamQuery);
  const queryClient = useQueryClient();
  // A form begins with the settings of its time: what is loaded in the background must not change what is typed.
  const [formCount, setFormCount] = useState(0);
  const restart = (settings: AlertSettings) => {
    queryClient.setQueryData(alertsQuery.queryKey, settings);
    setFormCount(formCount + 1);
  };
  return (
    <>
      <PageHeader title="Alerts" />
      <p>
        You get an alert when the usage of a limit passes a threshold, once per threshold and billing period.
        If you get more points, alerts are sent again when you reach a threshold of the new limit.
        {team?.role === 'manager' && ' Team members only get alerts about budgets.'}
        {team?.role === 'member' &&
          ' Your calls are charged to your team’s manager, who gets the alerts about them. You get alerts about budgets.'}
      </p>
      {isPending && <Skeleton rows={6} />}
      {data === undefined && !isPending && (
        <ErrorMessage error={error} what="your alert settings" onRetry={() => void refetch()} />
      )}
      {data !== undefined && <AlertForm key={formCount} settings={data} onRestart={restart} />}
      <RecentAlerts />
    </>
  );
}
