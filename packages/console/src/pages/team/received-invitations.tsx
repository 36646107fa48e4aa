import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Moment } from '../../ui/moment.tsx';
import styles from '../../ui/page/page.module.css';
import { ErrorMessage } from '../../ui/page/states.tsx';
import { receivedInvitationsQuery } from './queries.ts';
import type { ReceivedInvitation, Team } from './queries.ts';
import { useTeamChange } from './use-team-change.ts';

/** Invitations into other teams, to accept or decline. */
export function ReceivedInvitations({ team }: { team: Team | null }) {
  const { data, isError, error, refetch } = useQuery(receivedInvitationsQuery);
  if (data === undefined)
    return isError ? (
      <ErrorMessage error={error} what="your invitations" onRetry={() => void refetch()} />
    ) : null;
  return data.map((invitation) => (
    <Received key={invitation.invitation_id} invitation={invitation} team={team} />
  ));
}

function Received({ invitation, team }: { invitation: ReceivedInvitation; team: Team | null }) {
  const { invitation_id, team_name, invited_by_name, invited_by_email, expires_at } = invitation;
  const params = { params: { path: { invitation_id } } };
  const accept = useTeamChange(() =>
    resultOf(api.POST('/api/console/invitations/{invitation_id}/accept', params)),
  );
  const decline = useTeamChange(() =>
    resultOf(api.POST('/api/console/invitations/{invitation_id}/decline', params)),
  );
  const error = accept.error ?? decline.error;
  return (
    <section className={styles['card']} aria-label={`Invitation to ${team_name}`}>
      <h2>
        You are invited to <bdi>{team_name}</bdi>
      </h2>
      <p>
        <bdi>{invited_by_name}</bdi> ({invited_by_email}) invites you. The team’s manager pays for your calls
        and sees how much you use. The invitation expires <Moment at={expires_at} />.
      </p>
      {team !== null && <p>{obstacleOf(team)}</p>}
      {error !== null && <ErrorMessage error={error} />}
      <div className={styles['actions']}>
        <Button
          variant="primary"
          isPending={accept.isPending}
          onPress={() => {
            accept.mutate();
          }}
        >
          Accept
        </Button>
        <Button
          isPending={decline.isPending}
          onPress={() => {
            decline.mutate();
          }}
        >
          Decline
        </Button>
      </div>
    </section>
  );
}

function obstacleOf({ role, members, name }: Team): ReactNode {
  const own = <bdi>{name}</bdi>;
  if (role === 'manager' && members.length === 1) {
    return <>Accepting dissolves {own}, which has no other members.</>;
  }
  return <>You are in {own}. Leave it to accept.</>;
}
