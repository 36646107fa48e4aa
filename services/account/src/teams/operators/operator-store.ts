import type { Query } from '../../platform/database/query.ts';
import type { Page } from '../../http/input/page.ts';
import type { MemberRole } from '../../identity/accounts/member-roles.ts';
import type { Role } from '../store.ts';

type ListedTeam = {
  team_id: number;
  name: string;
  created_at: Date;
  manager_id: number;
  /** Includes the manager. */
  members_count: number;
};

type TeamMember = {
  account_id: number;
  name: string;
  email: string;
  role: Role;
  member_role: MemberRole | null;
  joined_at: Date;
};

const LISTED_SQL = `
  SELECT team_id, name, created_at,
         (SELECT account_id FROM team_members
          WHERE team_members.team_id = teams.team_id AND role = 'manager') AS manager_id,
         (SELECT count(*) FROM team_members WHERE team_members.team_id = teams.team_id) AS members_count
  FROM teams`;

/** Newest first. */
export function listTeams(query: Query, { limit, before }: Page): Promise<ListedTeam[]> {
  return query<ListedTeam>(`${LISTED_SQL} WHERE team_id < :before ORDER BY team_id DESC LIMIT :limit`, {
    limit,
    before,
  });
}

export async function findTeam(query: Query, teamId: number): Promise<ListedTeam | undefined> {
  const rows = await query<ListedTeam>(`${LISTED_SQL} WHERE team_id = :teamId`, { teamId });
  return rows[0];
}

export function listMembers(query: Query, teamId: number): Promise<TeamMember[]> {
  return query<TeamMember>(
    `SELECT account_id, accounts.name, email, role,
            CASE role WHEN 'member' THEN member_role END AS member_role, joined_at
     FROM team_members JOIN accounts USING (account_id)
     WHERE team_id = :teamId ORDER BY role = 'manager' DESC, joined_at, account_id`,
    { teamId },
  );
}
