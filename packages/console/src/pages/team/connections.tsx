import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, nullIf, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmByName } from '../../ui/form/confirm-by-name.tsx';
import { Table } from '../../ui/list/table.tsx';
import styles from '../../ui/page/page.module.css';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { APPLICATION, MADE_BY, USE } from '../../ui/list/connection-columns.tsx';
import { teamConnectionsQuery } from './queries.ts';
import type { Team, TeamConnection } from './queries.ts';
import { useTeamRefresh } from './use-team-change.ts';

/** The applications that act for members, for the manager, who pays for their calls. */
export function Connections({ team }: { team: Team }) {
  const list = useInfiniteQuery(teamConnectionsQuery);
  const [ending, setEnding] = useState<TeamConnection | null>(null);
  const connections = list.data?.pages.flatMap((one) => one.connections) ?? [];
  return (
    <section className={styles['card']} aria-labelledby="team-connections">
      <div className={styles['header']}>
        <h2 id="team-connections">Connected applications</h2>
        {!team.allows_applications && <Badge tone="neutral">Forbidden</Badge>}
      </div>
      <p className={styles['muted']}>
        Applications of others that members have allowed to call the data API for them. Their calls use the
        points of your plan.
      </p>
      {list.isPending && <Skeleton rows={2} />}
      {list.isError && (
        <ErrorMessage
          error={list.error}
          what="your team’s connected applications"
          onRetry={() => void list.refetch()}
        />
      )}
      {list.data !== undefined && connections.length === 0 && <p>No application is connected.</p>}
      {connections.length > 0 && (
        <Table
          label="Connected applications"
          rows={connections}
          keyOf={({ connection_id }) => connection_id}
          columns={[
            APPLICATION,
            { label: 'Member', cell: ({ member_name }) => <bdi>{member_name}</bdi> },
            MADE_BY,
            ...USE,
          ]}
          actions={(connection) => (
            <Button
              variant="danger"
              aria-label={`Disconnect ${connection.name} of ${connection.member_name}`}
              onPress={() => {
                setEnding(connection);
              }}
            >
              Disconnect
            </Button>
          )}
        />
      )}
      {list.hasNextPage && (
        <div className={styles['actions']}>
          <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
            Show older ones
          </Button>
        </div>
      )}
      <Rule team={team} />
      {ending !== null && (
        <Disconnect
          connection={ending}
          onClose={() => {
            setEnding(null);
          }}
        />
      )}
    </section>
  );
}

/** Whether members may connect applications. */
function Rule({ team: { allows_applications: isAllowed } }: { team: Team }) {
  const [isAsking, setAsking] = useState(false);
  const refresh = useTeamRefresh();
  const allow = useMutation({ mutationFn: () => setRule(true), onSuccess: refresh });
  return (
    <>
      <p>
        {isAllowed
          ? 'Members can connect applications.'
          : 'Members can’t connect applications. Those of people who join are disconnected.'}
      </p>
      {allow.isError && <ErrorMessage error={allow.error} isChange />}
      <div className={styles['actions']}>
        {isAllowed ? (
          <Button
            onPress={() => {
              setAsking(true);
            }}
          >
            Forbid connected applications
          </Button>
        ) : (
          <Button
            isPending={allow.isPending}
            onPress={() => {
              allow.mutate();
            }}
          >
            Allow connected applications
          </Button>
        )}
      </div>
      <ConfirmByName
        title="Forbid connected applications?"
        name=""
        of="team"
        action="Forbid"
        asksName={false}
        isOpen={isAsking}
        onClose={() => {
          setAsking(false);
        }}
        onConfirm={() => setRule(false)}
        onDone={refresh}
      >
        <p>
          All connected applications of your team, yours too, are disconnected within a second. If you allow
          them again, members have to connect them again.
        </p>
      </ConfirmByName>
    </>
  );
}

function setRule(allows_applications: boolean) {
  return resultOf(api.PUT('/api/console/team/connection-rule', { body: { allows_applications } }));
}

function Disconnect({ connection, onClose }: { connection: TeamConnection; onClose: () => void }) {
  const refresh = useTeamRefresh();
  const { connection_id, name, member_name } = connection;
  return (
    <ConfirmByName
      title={
        <>
          Disconnect <bdi>{name}</bdi> of <bdi>{member_name}</bdi>?
        </>
      }
      name={name}
      of="application"
      action="Disconnect"
      asksName={false}
      isOpen
      onClose={onClose}
      onConfirm={() => {
        const params = { path: { connection_id } };
        return nullIf(404, resultOf(api.DELETE('/api/console/team/connections/{connection_id}', { params })));
      }}
      onDone={refresh}
    >
      <p>Its tokens stop working within a second, and its open subscriptions end.</p>
    </ConfirmByName>
  );
}
