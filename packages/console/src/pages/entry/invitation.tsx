import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, resultOf, setCsrfToken } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import styles from '../../ui/page/page.module.css';
import { DeadLink, isDeadLink } from './dead-link.tsx';
import { EntryPage } from './entry-page.tsx';
import { SignInForm } from './sign-in-form.tsx';
import { useLinkToken } from './use-link-token.ts';

/** `/user/invitation`: accept with an account, or decline without one. */
export function InvitationPage() {
  const { token } = useLinkToken();
  const { data: session } = useQuery(sessionQuery);
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => resultOf(api.POST('/api/console/invitations/look-up', { body: { token } })),
    staleTime: Infinity,
  });
  const answer = useMutation({
    mutationFn: async (choice: 'accept' | 'decline') => {
      if (choice === 'accept')
        await resultOf(api.POST('/api/console/invitations/accept', { body: { token } }));
      else await resultOf(api.POST('/api/console/invitations/decline', { body: { token } }));
      return choice;
    },
  });
  if (answer.isSuccess) return <Answered choice={answer.data} />;
  if (invitation.data === undefined) {
    return (
      <EntryPage title="Invitation">
        {invitation.isPending && <Skeleton rows={3} />}
        {isDeadLink(invitation.error) && (
          <DeadLink>
            <p>Ask the team’s manager to invite you again.</p>
          </DeadLink>
        )}
        {invitation.isError && !isDeadLink(invitation.error) && (
          <ErrorMessage
            error={invitation.error}
            what="this invitation"
            onRetry={() => void invitation.refetch()}
          />
        )}
      </EntryPage>
    );
  }
  const { team_name, invited_by_name, invited_by_email } = invitation.data;
  const decline = (
    <Button
      onPress={() => {
        answer.mutate('decline');
      }}
    >
      Decline
    </Button>
  );
  return (
    <EntryPage title={`Join ${team_name}`}>
      <p>
        <bdi>{invited_by_name}</bdi> ({invited_by_email}) invites you to the team. The team’s manager pays for
        your calls and sees how much you use.
      </p>
      {answer.isError && <ErrorMessage error={answer.error} />}
      {session !== undefined && session !== null ? (
        <div className={styles['actions']}>
          <Button
            variant="primary"
            isPending={answer.isPending}
            onPress={() => {
              answer.mutate('accept');
            }}
          >
            Accept as {session.email}
          </Button>
          {decline}
        </div>
      ) : (
        <>
          <SignInToAccept email={invitation.data.email} />
          <div className={styles['actions']}>{decline}</div>
        </>
      )}
    </EntryPage>
  );
}

function SignInToAccept({ email }: { email: string }) {
  const queryClient = useQueryClient();
  return (
    <>
      <p>
        Sign in to accept, or <Link to="/sign-up">create an account</Link> and open the link in your email
        again.
      </p>
      <SignInForm
        email={email}
        onSignedIn={(session) => {
          setCsrfToken(session.csrf_token);
          queryClient.setQueryData(sessionQuery.queryKey, session);
        }}
      />
    </>
  );
}

function Answered({ choice }: { choice: 'accept' | 'decline' }) {
  const isAccepted = choice === 'accept';
  return (
    <EntryPage title={isAccepted ? 'You joined the team' : 'Invitation declined'}>
      <p role="status">
        {isAccepted
          ? 'The team’s manager pays for your calls from now on.'
          : 'The invitation is gone. Nothing else has changed.'}
      </p>
      <p>
        <Link to="/">Go to the overview</Link>
      </p>
    </EntryPage>
  );
}
