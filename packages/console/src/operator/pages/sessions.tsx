import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { operatorApi } from '../api/client.ts';

const KEY = ['operator-sessions'];

/** `/operator/sessions`: where the operator is signed in. */
export function SessionsPage() {
  const queryClient = useQueryClient();
  const sessions = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => resultOf(operatorApi.GET('/operator/api/sessions', { signal })),
  });
  const end = useMutation({
    mutationFn: (session_id: number) =>
      resultOf(
        operatorApi.DELETE('/operator/api/sessions/{session_id}', { params: { path: { session_id } } }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <>
      <PageHeader title="Your sessions" />
      {sessions.isPending && <Skeleton />}
      {sessions.isError && (
        <ErrorMessage error={sessions.error} what="your sessions" onRetry={() => void sessions.refetch()} />
      )}
      {end.isError && <ErrorMessage error={end.error} isChange />}
      {sessions.data !== undefined && (
        <Table
          label="Sessions"
          rows={sessions.data.sessions}
          keyOf={({ session_id }) => session_id}
          columns={[
            { label: 'Browser', cell: ({ user_agent }) => <bdi>{user_agent}</bdi>, onCard: 'title' },
            { label: 'IP address', cell: ({ address }) => address },
            { label: 'Last seen', cell: ({ last_seen_at }) => <Moment at={last_seen_at} /> },
            { label: 'Ends', cell: ({ expires_at }) => <Moment at={expires_at} /> },
          ]}
          actions={({ session_id, current }) =>
            current ? (
              <Badge tone="good">This one</Badge>
            ) : (
              <Button
                onPress={() => {
                  end.mutate(session_id);
                }}
              >
                End
              </Button>
            )
          }
        />
      )}
    </>
  );
}
