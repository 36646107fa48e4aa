import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { auditTeam } from '../../teams/changes.ts';
import { setMemberRole } from '../../teams/store.ts';
import type { Team } from '../../teams/store.ts';
import { findSettings, setAssignedRole, wantedRoles } from './store.ts';
import type { WantedRole } from './store.ts';

/** Another role than groups gave last was set by hand. */
export function isManual({ member_role, assigned_role }: WantedRole): boolean {
  return assigned_role !== null && member_role !== assigned_role;
}

/** Gives members the roles of their groups. The team is locked. */
export async function applyRoles(
  query: Query,
  { team_id, name }: Pick<Team, 'team_id' | 'name'>,
  scimUserIds: readonly string[] | null,
  actor: Actor,
): Promise<void> {
  const settings = await findSettings(query, team_id);
  for (const member of await wantedRoles(query, team_id, scimUserIds)) {
    if (settings?.keeps_manual_roles === true && isManual(member)) continue;
    const { scim_user_id, account_id, member_role: before, assigned_role, wanted } = member;
    if (before !== wanted) {
      await setMemberRole(query, { team_id, account_id, member_role: wanted });
      await auditTeam(query, { account_id, actor }, { team_id, name }, 'team_member_role_changed', {
        before,
        member_role: wanted,
      });
    }
    if (assigned_role !== wanted) await setAssignedRole(query, scim_user_id, wanted);
  }
}
