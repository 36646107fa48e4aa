import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import page from '../../ui/page/page.module.css';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import { EndTeam } from './end-team.tsx';
import { Invitations } from './invitations.tsx';
import { Invite } from './invite.tsx';
import { NoTeam } from './no-team.tsx';
import { teamQuery } from './queries.ts';
import type { Team } from './queries.ts';
import { ReceivedInvitations } from './received-invitations.tsx';
import { TeamFacts } from './team-facts.tsx';
import { useTeamRefresh } from './use-team-change.ts';

const Domains = lazyPart(async () => (await import('./domains.tsx')).Domains);

const Connections = lazyPart(async () => (await import('./connections.tsx')).Connections);
const SingleSignOn = lazyPart(async () => (await import('./single-sign-on.tsx')).SingleSignOn);
const Provisioning = lazyPart(async () => (await import('./provisioning/provisioning.tsx')).Provisioning);

const Members = lazyPart(async () => (await import('./members.tsx')).Members);

/** `/user/team`: who is in the team, what they used, who pays, and the way in and out. */
export function TeamPage() {
  const { data: session } = useQuery(sessionQuery);
  const { data: team, isPending, error, refetch } = useQuery(teamQuery);
  const accountId = session?.account_id ?? 0;
  return (
    <>
      <PageHeader title={team?.name ?? 'Team'}>
        {team?.role === 'manager' && <Rename team={team} />}
      </PageHeader>
      <ReceivedInvitations team={team ?? null} />
      {isPending && <Skeleton rows={6} />}
      {team === undefined && !isPending && (
        <ErrorMessage error={error} what="your team" onRetry={() => void refetch()} />
      )}
      {team === null && <NoTeam />}
      {team !== undefined && team !== null && (
        <>
          <div className={page['columns']}>
            {team.role === 'manager' && <Invite slots={team.slots} />}
            <TeamFacts team={team} accountId={accountId} />
          </div>
          <Suspense fallback={<Skeleton rows={4} />}>
            <Members team={team} accountId={accountId} />
          </Suspense>
          {team.role === 'manager' && team.invitations.length > 0 && (
            <Invitations invitations={team.invitations} />
          )}
          {team.role === 'manager' && (
            <Suspense fallback={<Skeleton rows={2} />}>
              <Connections team={team} />
              <Domains />
              <SingleSignOn />
              <Provisioning />
            </Suspense>
          )}
          <EndTeam team={team} />
        </>
      )}
    </>
  );
}

function Rename({ team }: { team: Team }) {
  const [isOpen, setOpen] = useState(false);
  const refresh = useTeamRefresh();
  const close = () => {
    setOpen(false);
  };
  return (
    <>
      <Button
        onPress={() => {
          setOpen(true);
        }}
      >
        Rename
      </Button>
      <Dialog title="Rename the team" isOpen={isOpen} onClose={close}>
        <Form
          submitLabel="Rename"
          onCancel={close}
          onSubmit={(values) =>
            resultOf(api.PATCH('/api/console/team', { body: { name: values['name'] ?? '' } }))
          }
          onDone={() => {
            close();
            refresh();
          }}
        >
          {(errors) => (
            <TextField
              label="Name"
              name="name"
              autoComplete="off"
              defaultValue={team.name}
              error={errors['name']}
              autoFocus
            />
          )}
        </Form>
      </Dialog>
    </>
  );
}
