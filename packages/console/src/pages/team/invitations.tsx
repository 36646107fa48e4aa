import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import styles from '../../ui/page/page.module.css';
import { Badge, ErrorMessage } from '../../ui/page/states.tsx';
import { roleInWords } from './member-roles.ts';
import { invite } from './queries.ts';
import type { SentInvitation } from './queries.ts';
import { useTeamChange } from './use-team-change.ts';

/** The invitations that haven't been answered. */
export function Invitations({ invitations }: { invitations: readonly SentInvitation[] }) {
  return (
    <section className={styles['card']} aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <Table
        label="Invitations"
        rows={invitations}
        keyOf={({ invitation_id }) => invitation_id}
        columns={[
          { label: 'Email', onCard: 'title', cell: ({ email }) => email },
          {
            label: 'Status',
            onCard: 'status',
            cell: ({ status }) =>
              status === 'expired' ? (
                <Badge tone="warning">Expired</Badge>
              ) : (
                <Badge tone="neutral">Pending</Badge>
              ),
          },
          { label: 'Role', cell: roleInWords },
          { label: 'Sent', cell: ({ created_at }) => <Moment at={created_at} /> },
          { label: 'Expires', cell: ({ expires_at }) => <Moment at={expires_at} /> },
        ]}
        actions={(invitation) => <InvitationActions invitation={invitation} />}
      />
    </section>
  );
}

function InvitationActions({ invitation }: { invitation: SentInvitation }) {
  const { invitation_id, email, member_role, status } = invitation;
  const isExpired = status === 'expired';
  const withdrawal = useTeamChange(() =>
    resultOf(
      api.DELETE('/api/console/team/invitations/{invitation_id}', { params: { path: { invitation_id } } }),
    ),
  );
  const again = useTeamChange(() => invite(email, member_role));
  const error = withdrawal.error ?? again.error;
  return (
    <>
      {isExpired && (
        <Button
          aria-label={`Invite again: ${email}`}
          isPending={again.isPending}
          onPress={() => {
            again.mutate();
          }}
        >
          Invite again
        </Button>
      )}
      <Button
        aria-label={`${isExpired ? 'Remove' : 'Withdraw'} the invitation of ${email}`}
        isPending={withdrawal.isPending}
        onPress={() => {
          withdrawal.mutate();
        }}
      >
        {isExpired ? 'Remove' : 'Withdraw'}
      </Button>
      {error !== null && <ErrorMessage error={error} />}
    </>
  );
}
