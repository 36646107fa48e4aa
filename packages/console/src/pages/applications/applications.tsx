import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Application } from '../../api/client.ts';
import { applicationsQuery } from './queries.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Badge, Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { EndApplication } from './end-application.tsx';
import { NewApplication } from './new-application.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import styles from '../../ui/page/page.module.css';

/** `/user/api_v2/applications` (source specification, part 4.4). */
export function ApplicationsPage() {
  const { data, isError, isPending, error, refetch } = useQuery(applicationsQuery);
  const [isCreating, setCreating] = useState(false);
  const create = (
    <Button
      variant="primary"
      onPress={() => {
        setCreating(true);
      }}
    >
      + New Application
    </Button>
  );
  return (
    <>
      <PageHeader title="Applications">{create}</PageHeader>
      {isPending && <Skeleton />}
      {data === undefined && isError && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {data?.applications.length === 0 && (
        <Empty title="No applications yet">
          <p>An application holds the credentials with which your program calls the API.</p>
          {create}
        </Empty>
      )}
      {data !== undefined && data.applications.length > 0 && (
        <ApplicationTable applications={data.applications} />
      )}
      <NewApplication
        isOpen={isCreating}
        onClose={() => {
          setCreating(false);
        }}
      />
    </>
  );
}

function ApplicationTable({ applications }: { applications: readonly Application[] }) {
  return (
    <div className={styles['scroll']} tabIndex={0} role="region" aria-label="Applications">
      <table className={styles['table']}>
        <thead>
          <tr>
            {['Name', 'Type', 'Token lifespan', 'Client ID', 'Created', 'Status'].map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            <th scope="col">Actions</th>
          </tr>
        </thead>
        <tbody>
          {applications.map((application) => (
            <ApplicationRow key={application.application_id} application={application} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ApplicationRow({ application }: { application: Application }) {
  const { application_id, name, type, token_lifespan_label, client_id, created_at, status } = application;
  return (
    <tr>
      <td>
        <Link to="/api_v2/applications/$applicationId" params={{ applicationId: application_id }}>
          {name}
        </Link>
      </td>
      <td>{type === 'automatic' ? 'Automatic' : 'Manual'}</td>
      <td>{token_lifespan_label}</td>
      <td>
        <code>{client_id.slice(0, 8)}…</code> <CopyButton what={`client ID of ${name}`} text={client_id} />
      </td>
      <td>
        <Moment at={created_at} />
      </td>
      <td>
        {status === 'active' ? <Badge tone="good">Active</Badge> : <Badge tone="neutral">Revoked</Badge>}
      </td>
      <td>
        <div className={styles['actions']}>
          <Link to="/api_v2/applications/$applicationId" params={{ applicationId: application_id }}>
            Tokens
          </Link>
          <EndApplication application={application} />
        </div>
      </td>
    </tr>
  );
}
