import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import styles from '../../ui/page/page.module.css';
import { Badge, ErrorMessage } from '../../ui/page/states.tsx';
import { useHashAction } from '../../ui/use-hash-action.ts';
import type { SentInvitation, TeamOfManager } from './queries.ts';
import { useTeamChange, useTeamRefresh } from './use-team-change.ts';

/** Inviting by email, and the invitations that haven't been answered. */
export function Invitations({ team }: { team: TeamOfManager }) {
  const { used, limit } = team.slots;
  const section = useRef<HTMLElement>(null);
  useHashAction('invite', () => {
    section.current?.querySelector('input')?.focus();
  });
  const isFull = limit !== null && used >= limit;
  return (
    <section ref={section} className={styles['card']} aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <Invite isFull={isFull} />
      {team.invitations.length > 0 && (
        <Table
          label="Invitations"
          rows={team.invitations}
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
            { label: 'Sent', cell: ({ created_at }) => <Moment at={created_at} /> },
            { label: 'Expires', cell: ({ expires_at }) => <Moment at={expires_at} /> },
          ]}
          actions={(invitation) => <InvitationActions invitation={invitation} />}
        />
      )}
    </section>
  );
}

/** With all slots used, where more come from instead of the form; what was just sent is still said. */
function Invite({ isFull }: { isFull: boolean }) {
  const refresh = useTeamRefresh();
  const [sent, setSent] = useState({ count: 0, email: '' });
  return (
    <>
      {isFull ? (
        <p>
          All slots of your plan are used. To invite someone,{' '}
          <Link to="/plan">add slots or change your plan</Link>, remove a member, or withdraw an invitation.
        </p>
      ) : (
        <Form
          // An empty form for the next one.
          key={sent.count}
          submitLabel="Invite"
          fieldOfCode={{
            already_member: 'email',
            invitation_pending: 'email',
            team_slots_limit_exceeded: 'email',
          }}
          onSubmit={(values) => {
            setSent({ ...sent, email: '' });
            return invite(values['email'] ?? '');
          }}
          onDone={({ email }) => {
            setSent({ count: sent.count + 1, email });
            refresh();
          }}
        >
          {(errors) => (
            <TextField
              label="Email"
              name="email"
              type="email"
              autoComplete="off"
              description="They get an email with a link. It works for 7 days and holds a slot."
              error={errors['email']}
              maxLength={254}
              autoFocus={sent.count > 0}
            />
          )}
        </Form>
      )}
      <p role="status">{sent.email !== '' && `Invitation sent to ${sent.email}.`}</p>
    </>
  );
}

function invite(email: string) {
  return resultOf(api.POST('/api/console/team/invitations', { body: { email } }));
}

function InvitationActions({ invitation }: { invitation: SentInvitation }) {
  const { invitation_id, email, status } = invitation;
  const isExpired = status === 'expired';
  const withdrawal = useTeamChange(() =>
    resultOf(
      api.DELETE('/api/console/team/invitations/{invitation_id}', { params: { path: { invitation_id } } }),
    ),
  );
  const again = useTeamChange(() => invite(email));
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
