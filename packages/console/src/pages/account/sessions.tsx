import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, nullIf, resultOf } from '../../api/client.ts';
import { useLeave } from '../../api/sign-out.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { Table } from '../../ui/list/table.tsx';
import type { Column } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { sessionsQuery } from './queries.ts';
import { Section } from './section.tsx';
import { deviceOf } from './user-agent.ts';

type ListedSession = {
  session_id: number;
  current: boolean;
  created_at: string;
  last_seen_at: string;
  address: string;
  user_agent: string;
};

/** Where the account is signed in, and signing out there. */
export function Sessions() {
  const { data, isPending, error, refetch } = useQuery(sessionsQuery);
  return (
    <Section title="Active sessions" status={<SignOutEverywhere />}>
      {isPending && <Skeleton />}
      {data === undefined && error !== null && (
        <ErrorMessage error={error} what="your sessions" onRetry={() => void refetch()} />
      )}
      {data !== undefined && <SessionTable sessions={data.sessions} />}
    </Section>
  );
}

const COLUMNS: readonly Column<ListedSession>[] = [
  {
    label: 'Device',
    cell: ({ user_agent }) => <span title={user_agent}>{deviceOf(user_agent)}</span>,
    onCard: 'title',
  },
  { label: 'Address', cell: ({ address }) => address },
  { label: 'Last active', cell: ({ last_seen_at }) => <Moment at={last_seen_at} /> },
  { label: 'Signed in', cell: ({ created_at }) => <Moment at={created_at} /> },
];

function SessionTable({ sessions }: { sessions: readonly ListedSession[] }) {
  return (
    <Table
      label="Sessions"
      columns={COLUMNS}
      rows={sessions.toSorted((one, other) => Number(other.current) - Number(one.current))}
      keyOf={({ session_id }) => session_id}
      actions={(session) =>
        session.current ? <Badge tone="good">This session</Badge> : <EndSession session={session} />
      }
    />
  );
}

function EndSession({ session }: { session: ListedSession }) {
  const queryClient = useQueryClient();
  const end = useMutation({
    mutationFn: () => {
      const path = { session_id: session.session_id };
      // It may have ended by itself, or from another tab.
      return nullIf(404, resultOf(api.DELETE('/api/console/sessions/{session_id}', { params: { path } })));
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  return (
    <>
      <Button
        isPending={end.isPending}
        aria-label={`Sign out ${deviceOf(session.user_agent)}, ${session.address}`}
        onPress={() => {
          end.mutate();
        }}
      >
        Sign out
      </Button>
      {end.isError && <ErrorMessage error={end.error} />}
    </>
  );
}

function SignOutEverywhere() {
  const [isOpen, setOpen] = useState(false);
  const leave = useLeave();
  const close = () => {
    setOpen(false);
  };
  return (
    <>
      <Button
        variant="danger"
        onPress={() => {
          setOpen(true);
        }}
      >
        Sign out everywhere
      </Button>
      <Dialog title="Sign out everywhere?" isOpen={isOpen} onClose={close}>
        <p>All sessions end, including this one. Your applications and their tokens keep working.</p>
        <Form
          submitLabel="Sign out everywhere"
          onCancel={close}
          onSubmit={() => resultOf(api.DELETE('/api/console/sessions'))}
          onDone={() => {
            void leave();
          }}
        >
          {() => null}
        </Form>
      </Dialog>
    </>
  );
}
