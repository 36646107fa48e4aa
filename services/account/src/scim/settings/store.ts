import type { MemberRole } from '../../identity/accounts/member-roles.ts';
import type { Query } from '../../platform/database/query.ts';

export type Settings = { default_role: MemberRole; keeps_manual_roles: boolean };

export type GroupRole = { group_name: string; member_role: MemberRole };

/** Undefined for a team that no directory provisions. */
export async function findSettings(query: Query, teamId: number): Promise<Settings | undefined> {
  const rows = await query<Settings>(
    'SELECT default_role, keeps_manual_roles FROM scim_settings WHERE team_id = :teamId',
    { teamId },
  );
  return rows[0];
}

/** Begins the provisioning of a team, if it hasn't begun. True if this did. */
export async function begin(query: Query, teamId: number): Promise<boolean> {
  const rows = await query(
    'INSERT INTO scim_settings (team_id) VALUES (:teamId) ON CONFLICT (team_id) DO NOTHING RETURNING 1',
    { teamId },
  );
  return rows.length > 0;
}

/** Tokens, users and groups go with it; people and memberships stay. */
export async function deleteSettings(query: Query, teamId: number): Promise<void> {
  await query('DELETE FROM scim_settings WHERE team_id = :teamId', { teamId });
}

export function listGroupRoles(query: Query, teamId: number): Promise<GroupRole[]> {
  return query<GroupRole>(
    'SELECT group_name, member_role FROM scim_group_roles WHERE team_id = :teamId ORDER BY lower(group_name)',
    { teamId },
  );
}

/** The team is locked, and provisioned. */
export async function setSettings(
  query: Query,
  teamId: number,
  { group_roles, ...settings }: Settings & { group_roles: readonly GroupRole[] },
): Promise<void> {
  await query(
    `UPDATE scim_settings SET default_role = :default_role, keeps_manual_roles = :keeps_manual_roles
     WHERE team_id = :teamId`,
    { teamId, ...settings },
  );
  await query('DELETE FROM scim_group_roles WHERE team_id = :teamId', { teamId });
  await query(
    `INSERT INTO scim_group_roles (team_id, group_name, member_role)
     SELECT :teamId, group_name, member_role
     FROM unnest(CAST(:names AS text[]), CAST(:roles AS text[])) AS wanted (group_name, member_role)`,
    {
      teamId,
      names: group_roles.map(({ group_name }) => group_name),
      roles: group_roles.map(({ member_role }) => member_role),
    },
  );
}

/** A role that groups give, beside the one that the member has. */
export type WantedRole = {
  scim_user_id: string;
  account_id: number;
  email: string;
  member_role: MemberRole;
  assigned_role: MemberRole | null;
  wanted: MemberRole;
};

/** The strongest role of a person's groups, else the default. */
const WANTED = `coalesce((
  SELECT scim_group_roles.member_role
  FROM scim_group_members JOIN scim_groups USING (scim_group_id)
  JOIN scim_group_roles ON scim_group_roles.team_id = scim_groups.team_id
    AND lower(group_name) = lower(display_name)
  WHERE scim_group_members.scim_user_id = scim_users.scim_user_id
  ORDER BY array_position(ARRAY['billing', 'developer', 'viewer'], scim_group_roles.member_role) LIMIT 1),
  default_role)`;

export async function wantedRole(query: Query, scimUserId: string): Promise<MemberRole> {
  const rows = await query<{ wanted: MemberRole }>(
    `SELECT ${WANTED} AS wanted FROM scim_users JOIN scim_settings USING (team_id)
     WHERE scim_user_id = :scimUserId`,
    { scimUserId },
  );
  return rows[0]?.wanted ?? 'viewer';
}

/** Of these users, or of all (null) of the team that are members; the manager isn't one. */
export function wantedRoles(
  query: Query,
  teamId: number,
  scimUserIds: readonly string[] | null,
): Promise<WantedRole[]> {
  return query<WantedRole>(
    `SELECT scim_user_id, scim_users.account_id, accounts.email, team_members.member_role, assigned_role,
            ${WANTED} AS wanted
     FROM scim_users JOIN scim_settings USING (team_id)
     JOIN team_members ON team_members.account_id = scim_users.account_id
       AND team_members.team_id = scim_users.team_id AND team_members.role = 'member'
     JOIN accounts ON accounts.account_id = scim_users.account_id
     WHERE scim_users.team_id = :teamId AND deleted_at IS NULL
       AND (CAST(:scimUserIds AS uuid[]) IS NULL OR scim_user_id = ANY (CAST(:scimUserIds AS uuid[])))
     ORDER BY scim_users.account_id`,
    { teamId, scimUserIds },
  );
}

export async function setAssignedRole(query: Query, scimUserId: string, role: MemberRole): Promise<void> {
  await query('UPDATE scim_users SET assigned_role = :role WHERE scim_user_id = :scimUserId', {
    scimUserId,
    role,
  });
}
