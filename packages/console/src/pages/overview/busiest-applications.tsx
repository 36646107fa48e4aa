import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/format.ts';
import { Table } from '../../ui/list/table.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import { busiestApplicationsQuery } from './queries.ts';
import type { UsedApplication } from './queries.ts';

const SHOWN_MAX = 5;

/** Each change of the pace refreshes it; without a live feed, this. */
const POLL_MS = 4_000;

/** Which applications used the points of the last 30 days. */
export function BusiestApplications({ isLive }: { isLive: boolean }) {
  const { data, isPending, isError, error, refetch } = useQuery({
    ...busiestApplicationsQuery,
    refetchInterval: isLive ? false : POLL_MS,
  });
  return (
    <section aria-labelledby="busiest" className={page['card']}>
      <h2 id="busiest">Busiest applications, last 30 days</h2>
      {isPending && <Skeleton />}
      {data === undefined && isError && (
        <ErrorMessage error={error} what="your applications" onRetry={() => void refetch()} />
      )}
      {data?.length === 0 && (
        <p>
          No calls yet. <Link to="/api_v2/applications">Create an application</Link> to get a token.
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        <Table
          label="Busiest applications"
          rows={data.slice(0, SHOWN_MAX)}
          keyOf={({ application_id }) => application_id}
          columns={[
            {
              label: 'Application',
              onCard: 'title',
              cell: (application) => <Name application={application} />,
            },
            { label: 'Points', align: 'end', cell: ({ usage }) => formatNumber(usage.points_usage) },
            { label: 'Requests', align: 'end', cell: ({ usage }) => formatNumber(usage.requests_usage) },
          ]}
        />
      )}
    </section>
  );
}

function Name({ application }: { application: UsedApplication }) {
  const { application_id, name, type, status } = application;
  if (type === 'temporary') return <Link to="/api_v2/access_tokens">Temporary token</Link>;
  if (name === null) return 'Another system';
  if (type === 'connection') {
    return (
      <Link to="/connections">
        <bdi>{name}</bdi>
      </Link>
    );
  }
  if (status === 'deleted') {
    return (
      <>
        <bdi>{name}</bdi> (deleted)
      </>
    );
  }
  return (
    <Link to="/api_v2/applications/$applicationId" params={{ applicationId: application_id }}>
      <bdi>{name}</bdi>
    </Link>
  );
}
