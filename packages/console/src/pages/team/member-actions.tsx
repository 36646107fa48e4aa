import { useQuery } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import { ConfirmByName } from '../../ui/form/confirm-by-name.tsx';
import type { DialogState } from '../../ui/dialog.tsx';
import { counted } from '../../ui/format.ts';
import { creditsQuery } from '../plan/credits/queries.ts';
import type { Member } from './queries.ts';
import { useTeamRefresh } from './use-team-change.ts';

type MemberDialogProps = DialogState & { member: Member };

/** Makes a member the manager and payer. */
export function HandOver({ member, isOpen, onClose }: MemberDialogProps) {
  const refresh = useTeamRefresh();
  const { data: credits } = useQuery({ ...creditsQuery, enabled: isOpen });
  const { account_id, name } = member;
  const ownPoints = (credits?.grants ?? []).reduce((sum, grant) => sum + grant.points_remaining, 0);
  return (
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
      onClose={onClose}
      onConfirm={() => resultOf(api.POST('/api/console/team/hand-over', { body: { account_id } }))}
      onDone={refresh}
    >
      <p>
        <bdi>{name}</bdi> pays for the calls of the whole team from the next call on, and you become a member.
        If <bdi>{name}</bdi> has no plan, the calls of everyone in the team are refused.
      </p>
      {ownPoints > 0 && (
        <p>
          Your credits of {counted(ownPoints, 'point')} stay with you. You can’t use them while you are a
          member, and they expire as before.
        </p>
      )}
      <p>
        <bdi>{name}</bdi> gets an email. Only <bdi>{name}</bdi> can make you the manager again.
      </p>
    </ConfirmByName>
  );
}

/** Ends a membership. */
export function RemoveMember({ member, isOpen, onClose }: MemberDialogProps) {
  const refresh = useTeamRefresh();
  const { account_id, name } = member;
  return (
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
      onClose={onClose}
      onConfirm={() =>
        resultOf(api.DELETE('/api/console/team/members/{account_id}', { params: { path: { account_id } } }))
      }
      onDone={refresh}
    >
      <p>
        From the next call on, <bdi>{name}</bdi>’s calls are charged to their own plan. Without one, they are
        refused. To come back, <bdi>{name}</bdi> needs a new invitation.
      </p>
    </ConfirmByName>
  );
}
