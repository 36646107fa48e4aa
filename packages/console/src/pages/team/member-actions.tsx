import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmByName } from '../../ui/form/confirm-by-name.tsx';
import type { Member } from './queries.ts';
import { useTeamRefresh } from './use-team-change.ts';

/** Makes a member the manager and payer. */
export function HandOver({ member }: { member: Member }) {
  const [isOpen, setOpen] = useState(false);
  const refresh = useTeamRefresh();
  const { account_id, name } = member;
  return (
    <>
      <Button
        aria-label={`Make manager: ${name}`}
        onPress={() => {
          setOpen(true);
        }}
      >
        Make manager
      </Button>
      <ConfirmByName
        title={
          <>
            Make <bdi>{name}</bdi> the manager?
          </>
        }
        name={name}
        of="member"
        action="Hand over"
        isOpen={isOpen}
        onClose={() => {
          setOpen(false);
        }}
        onConfirm={() => resultOf(api.POST('/api/console/team/hand-over', { body: { account_id } }))}
        onDone={refresh}
      >
        <p>
          <bdi>{name}</bdi> pays for the calls of the whole team from the next call on, and you become a
          member. If <bdi>{name}</bdi> has no plan, the calls of everyone in the team are refused.
        </p>
        <p>
          <bdi>{name}</bdi> gets an email. Only <bdi>{name}</bdi> can make you the manager again.
        </p>
      </ConfirmByName>
    </>
  );
}

/** Ends a membership. */
export function RemoveMember({ member }: { member: Member }) {
  const [isOpen, setOpen] = useState(false);
  const refresh = useTeamRefresh();
  const { account_id, name } = member;
  return (
    <>
      <Button
        variant="danger"
        aria-label={`Remove ${name}`}
        onPress={() => {
          setOpen(true);
        }}
      >
        Remove
      </Button>
      <ConfirmByName
        title={
          <>
            Remove <bdi>{name}</bdi>?
          </>
        }
        name={name}
        of="member"
        action="Remove"
        isOpen={isOpen}
        onClose={() => {
          setOpen(false);
        }}
        onConfirm={() =>
          resultOf(api.DELETE('/api/console/team/members/{account_id}', { params: { path: { account_id } } }))
        }
        onDone={refresh}
      >
        <p>
          From the next call on, <bdi>{name}</bdi>’s calls are charged to their own plan. Without one, they
          are refused. To come back, <bdi>{name}</bdi> needs a new invitation.
        </p>
      </ConfirmByName>
    </>
  );
}
