import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import { APPLICATION, MADE_BY, USE } from '../../ui/list/connection-columns.tsx';
import { connectionsQuery } from './queries.ts';
import type { Connection } from './queries.ts';

const Disconnect = lazyPart(async () => (await import('./disconnect.tsx')).Disconnect);

/** `/user/connections`: the applications that act for the account, and how to end that. */
export function ConnectionsPage() {
  const { data, isPending, error, refetch } = useQuery(connectionsQuery);
  const [ending, setEnding] = useState<Connection | null>(null);
  return (
    <>
      <PageHeader title="Connected applications" />
      <p>
        Applications of others that you have allowed to call the data API for you. Their calls use the points
        of your plan, or of your team’s.
      </p>
      {isPending && <Skeleton />}
      {data === undefined && error !== null && (
        <ErrorMessage error={error} what="your connected applications" onRetry={() => void refetch()} />
      )}
      {data?.length === 0 && (
        <Empty title="No connected applications">
          <p>When an application asks to act for you and you allow it, it is listed here.</p>
        </Empty>
      )}
      {data !== undefined && data.length > 0 && (
        <Table
          label="Connected applications"
          rows={data}
          keyOf={({ connection_id }) => connection_id}
          columns={[
            APPLICATION,
            MADE_BY,
            { label: 'Runs at', cell: ({ redirect_host }) => redirect_host ?? 'One of your devices' },
            { label: 'Connected', cell: ({ created_at }) => <Moment at={created_at} /> },
            ...USE,
          ]}
          actions={(connection) => (
            <Button
              variant="danger"
              aria-label={`Disconnect ${connection.name}`}
              onPress={() => {
                setEnding(connection);
              }}
            >
              Disconnect
            </Button>
          )}
        />
      )}
      <Suspense>
        {ending !== null && (
          <Disconnect
            connection={ending}
            onClose={() => {
              setEnding(null);
            }}
          />
        )}
      </Suspense>
    </>
  );
}
