import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, nullIf, resultOf, setCsrfToken } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import pageStyles from '../../ui/page/page.module.css';
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
      {data === undefined && error !== null && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {data !== undefined && <SessionTable sessions={data.sessions} />}
    </Section>
  );
}

function SessionTable({ sessions }: { sessions: readonly ListedSession[] }) {
  const [current, others] = [
    sessions.filter((session) => session.current),
    sessions.filter((session) => !session.current),
  ];
  return (
    <div className={pageStyles['scroll']} tabIndex={0} role="region" aria-label="Table of sessions">
      <table className={pageStyles['table']}>
        <thead>
          <tr>
            {['Device', 'Address', 'Last active', 'Signed in', 'Action'].map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...current, ...others].map((session) => (
            <SessionRow key={session.session_id} session={session} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SessionRow({ session }: { session: ListedSession }) {
  const queryClient = useQueryClient();
  const device = deviceOf(session.user_agent);
  const end = useMutation({
    mutationFn: () => {
      const path = { session_id: session.session_id };
      // It may have ended by itself, or from another tab.
      return nullIf(404, resultOf(api.DELETE('/api/console/sessions/{session_id}', { params: { path } })));
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  return (
    <tr>
      <td title={session.user_agent}>{device}</td>
      <td>{session.address}</td>
      <td>
        <Moment at={session.last_seen_at} />
      </td>
      <td>
        <Moment at={session.created_at} />
      </td>
      <td>
        {session.current ? (
          <Badge tone="good">This session</Badge>
        ) : (
          <Button
            isPending={end.isPending}
            aria-label={`Sign out ${device}, ${session.address}`}
            onPress={() => {
              end.mutate();
            }}
          >
            Sign out
          </Button>
        )}
        {end.isError && <ErrorMessage error={end.error} />}
      </td>
    </tr>
  );
}

function SignOutEverywhere() {
  const [isOpen, setOpen] = useState(false);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
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
            setCsrfToken(null);
            queryClient.clear();
            void navigate({ to: '/sign-in', search: {} });
          }}
        >
          {() => null}
        </Form>
      </Dialog>
    </>
  );
}
