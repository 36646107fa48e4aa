import { api, resultOf } from '../../api/client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import type { DialogState } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { RadioCards } from '../../ui/form/radio-cards.tsx';
import { MEMBER_ROLES, memberRoleOf } from './member-roles.ts';
import type { Member } from './queries.ts';
import { useTeamRefresh } from './use-team-change.ts';

/** Changes what a member may do in the team. */
export function MemberRoleDialog({ member, isOpen, onClose }: DialogState & { member: Member }) {
  const refresh = useTeamRefresh();
  const { account_id, name, member_role } = member;
  return (
    <Dialog
      title={
        <>
          Role of <bdi>{name}</bdi>
        </>
      }
      isOpen={isOpen}
      onClose={onClose}
    >
      <Form
        submitLabel="Change role"
        onCancel={onClose}
        onSubmit={(values) =>
          resultOf(
            api.PATCH('/api/console/team/members/{account_id}', {
              params: { path: { account_id } },
              body: { member_role: memberRoleOf(values['member_role']) },
            }),
          )
        }
        onDone={() => {
          onClose();
          refresh();
        }}
      >
        {() => (
          <RadioCards
            label="Role"
            name="member_role"
            options={MEMBER_ROLES}
            defaultValue={member_role ?? 'developer'}
          />
        )}
      </Form>
    </Dialog>
  );
}
