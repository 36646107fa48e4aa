import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';

/** What the Team page shows of people and groups. */

export async function countPeople(
  query: Query,
  teamId: number,
): Promise<{ active: number; inactive: number }> {
  const rows = await query<{ active: number; inactive: number }>(
    `SELECT count(*) FILTER (WHERE is_in) AS active, count(*) FILTER (WHERE NOT is_in) AS inactive
     FROM (SELECT EXISTS (SELECT FROM team_members
       WHERE team_members.account_id = scim_users.account_id AND team_members.team_id = scim_users.team_id) AS is_in
       FROM scim_users WHERE team_id = :teamId AND deleted_at IS NULL) AS people`,
    { teamId },
  );
  return singleRow(rows);
}

const MAX_SHOWN = 200;

export function listGroupNames(
  query: Query,
  teamId: number,
): Promise<{ display_name: string; members: number }[]> {
  return query(
    `SELECT display_name, (SELECT count(*) FROM scim_group_members
       WHERE scim_group_members.scim_group_id = scim_groups.scim_group_id) AS members
     FROM scim_groups WHERE team_id = :teamId ORDER BY lower(display_name) LIMIT ${String(MAX_SHOWN)}`,
    { teamId },
  );
}

export function listRefusals(query: Query, teamId: number): Promise<{ email: string; refused_at: Date }[]> {
  return query(
    `SELECT email, refused_at FROM scim_refusals WHERE team_id = :teamId
     ORDER BY refused_at DESC LIMIT ${String(MAX_SHOWN)}`,
    { teamId },
  );
}

/** The next person whom switching off removes; the manager stays. */
export async function nextToRemove(query: Query, teamId: number): Promise<string | undefined> {
  const rows = await query<{ scim_user_id: string }>(
    `SELECT scim_user_id FROM scim_users JOIN team_members USING (team_id, account_id)
     WHERE scim_users.team_id = :teamId AND deleted_at IS NULL AND role = 'member'
     ORDER BY scim_user_id LIMIT 1`,
    { teamId },
  );
  return rows[0]?.scim_user_id;
}

/** Who stays without a password. */
export function withoutPassword(
  query: Query,
  teamId: number,
  none: string,
): Promise<{ account_id: number; email: string }[]> {
  return query(
    `SELECT account_id, email FROM scim_users JOIN team_members USING (team_id, account_id) JOIN accounts USING (account_id)
     WHERE scim_users.team_id = :teamId AND deleted_at IS NULL AND password_hash = :none ORDER BY account_id`,
    { teamId, none },
  );
}
