import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import type { Application } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Pagination } from '../../ui/list/pagination.tsx';
import { RowMenu } from '../../ui/list/row-menu.tsx';
import { Table } from '../../ui/list/table.tsx';
import { useListSearch } from '../../ui/list/use-list-search.ts';
import { formatNumber } from '../../ui/format.ts';
import { Moment } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { useHashAction } from '../../ui/use-hash-action.ts';
import { EndApplication } from './end-application.tsx';
import { applicationsQuery, pointsQuery } from './queries.ts';
import { StatusBadge, TYPE_LABELS } from './status.tsx';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import styles from './applications.module.css';

const STATUSES = [
  { value: '', label: 'All' },
  { value: 'active', label: 'Active' },
  { value: 'revoked', label: 'Revoked' },
] as const;

const ListFilters = lazyPart(async () => (await import('../../ui/list/list-filters.tsx')).ListFilters);

/** Loaded right after the list, which is usable without it. */
const NewApplication = lazyPart(async () => (await import('./new-application.tsx')).NewApplication);

/** `/user/api_v2/applications` (source specification, part 4.4). */
export function ApplicationsPage() {
  const { current, isFiltered, isLong, setFilters, setAfter } = useListSearch();
  const { data, isError, isPending, error, refetch } = useQuery(applicationsQuery(current));
  const [isCreating, setCreating] = useState(false);
  const navigate = useNavigate();
  useHashAction('new', () => {
    setCreating(true);
  });
  const { data: session } = useQuery(sessionQuery);
  const isViewer = session?.member_role === 'viewer';
  const create = isViewer ? (
    <p>As a viewer of your team, you can’t create applications.</p>
  ) : (
    <Button
      variant="primary"
      onPress={() => {
        setCreating(true);
      }}
    >
      + New Application
    </Button>
  );
  const isEmpty = data?.applications.length === 0;
  const isUnused = isEmpty && !isFiltered && current.after === undefined;
  return (
    <>
      <PageHeader title="Applications">{create}</PageHeader>
      {isLong(data?.applications, data?.next_cursor) && (
        <Suspense>
          <ListFilters current={current} setFilters={setFilters} statuses={STATUSES} />
        </Suspense>
      )}
      {isPending && <Skeleton />}
      {data === undefined && isError && (
        <ErrorMessage error={error} what="your applications" onRetry={() => void refetch()} />
      )}
      {isUnused && (
        <Empty title="No applications yet">
          <p>An application holds the credentials with which your program calls the API.</p>
          {create}
        </Empty>
      )}
      {isEmpty && !isUnused && <p role="status">No applications match.</p>}
      {data !== undefined && !isEmpty && <ApplicationTable applications={data.applications} />}
      <Pagination
        of="applications"
        after={current.after}
        nextCursor={data?.next_cursor ?? null}
        onChange={setAfter}
      />
      <Suspense>
        <NewApplication
          isOpen={isCreating}
          onClose={() => {
            setCreating(false);
          }}
          onCreated={({ application_id: applicationId }) => {
            void navigate({ to: '/api_v2/applications/$applicationId', params: { applicationId } });
          }}
        />
      </Suspense>
    </>
  );
}

function ApplicationTable({ applications }: { applications: readonly Application[] }) {
  const { data: points } = useQuery(pointsQuery);
  return (
    <Table
      label="Applications"
      rows={applications}
      keyOf={({ application_id }) => application_id}
      columns={[
        {
          label: 'Name',
          onCard: 'title',
          cell: ({ application_id, name }) => (
            <Link to="/api_v2/applications/$applicationId" params={{ applicationId: application_id }}>
              <bdi>{name}</bdi>
            </Link>
          ),
        },
        { label: 'Status', onCard: 'status', cell: ({ status }) => <StatusBadge status={status} /> },
        { label: 'Type', onCard: 'none', cell: ({ type }) => TYPE_LABELS[type] },
        {
          label: 'Token lifespan',
          onCard: 'none',
          cell: ({ token_lifespan_label }) => token_lifespan_label,
        },
        {
          label: 'Client ID',
          cell: ({ name, client_id }) => (
            <span className={styles['copied']}>
              <code>{client_id}</code>
              <CopyButton what={`client ID of ${name}`} text={client_id} />
            </span>
          ),
        },
        {
          label: 'Points, 30 days',
          align: 'end',
          cell: ({ application_id }) =>
            points === undefined ? '…' : formatNumber(points.get(application_id) ?? 0),
        },
        {
          label: 'Last used',
          cell: ({ last_used_at }) => (last_used_at === null ? 'Never' : <Moment at={last_used_at} />),
        },
      ]}
      actions={(application) => <ApplicationMenu application={application} />}
    />
  );
}

function ApplicationMenu({ application }: { application: Application }) {
  const { name, type, status } = application;
  const action = type === 'automatic' && status === 'active' ? 'Revoke' : 'Delete';
  return (
    <RowMenu
      name={name}
      actions={[
        {
          label: action,
          isDangerous: true,
          dialog: (state) => <EndApplication {...state} application={application} action={action} />,
        },
      ]}
    />
  );
}
