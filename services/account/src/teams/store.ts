import { singleRow } from '../platform/database/single-row.ts';
import type { Query } from '../platform/database/query.ts';
import { DEFAULT_MEMBER_ROLE } from '../identity/accounts/member-roles.ts';
import type { MemberRole } from '../identity/accounts/member-roles.ts';
import type { Taken } from './rules.ts';

export type Role = 'manager' | 'member';

export type Membership = { account_id: number; team_id: number; role: Role };

export type Team = {
  team_id: number;
  name: string;
  created_at: Date;
  /** Whether applications of others may act for its members. */
  allows_applications: boolean;
};

const COLUMNS = 'team_id, name, created_at, allows_applications';

export async function findMembership(query: Query, accountId: number): Promise<Membership | undefined> {
  const rows = await query<Membership>(
    'SELECT account_id, team_id, role FROM team_members WHERE account_id = :accountId',
    { accountId },
  );
  return rows[0];
}

/** Serializes changes of members and invitations. Locks in id order, which prevents deadlocks. */
export function lockTeams(query: Query, teamIds: readonly number[]): Promise<Team[]> {
  return query<Team>(
    `SELECT ${COLUMNS} FROM teams WHERE team_id = ANY (CAST(:teamIds AS bigint[]))
     ORDER BY team_id FOR NO KEY UPDATE`,
    { teamIds },
  );
}

/** Checks the team again after locking, as the account may have changed teams meanwhile. */
export async function lockOwnTeam(
  query: Query,
  accountId: number,
): Promise<{ team: Team; role: Role } | undefined> {
  const before = await findMembership(query, accountId);
  if (before === undefined) return undefined;
  const [team] = await lockTeams(query, [before.team_id]);
  const membership = await findMembership(query, accountId);
  if (team === undefined || membership?.team_id !== team.team_id) return undefined;
  return { team, role: membership.role };
}

export async function insertTeam(query: Query, name: string): Promise<Team> {
  const rows = await query<Team>(`INSERT INTO teams (name) VALUES (:name) RETURNING ${COLUMNS}`, { name });
  return singleRow(rows);
}

/** False if the account is in a team already: the primary key decides. */
export async function insertMember(
  query: Query,
  member: Membership & { member_role?: MemberRole },
): Promise<boolean> {
  const rows = await query(
    `INSERT INTO team_members (account_id, team_id, role, member_role)
     VALUES (:account_id, :team_id, :role, :member_role)
     ON CONFLICT (account_id) DO NOTHING RETURNING 1`,
    { member_role: DEFAULT_MEMBER_ROLE, ...member },
  );
  return rows.length > 0;
}

export async function setTeamName(query: Query, teamId: number, name: string): Promise<void> {
  await query('UPDATE teams SET name = :name WHERE team_id = :teamId', { teamId, name });
}

export async function setAllowsApplications(query: Query, teamId: number, isAllowed: boolean): Promise<void> {
  await query('UPDATE teams SET allows_applications = :isAllowed WHERE team_id = :teamId', {
    teamId,
    isAllowed,
  });
}

/** The manager included. */
export async function listMemberIds(query: Query, teamId: number): Promise<number[]> {
  const rows = await query<{ account_id: number }>(
    'SELECT account_id FROM team_members WHERE team_id = :teamId',
    { teamId },
  );
  return rows.map(({ account_id }) => account_id);
}

/** What it was; undefined if there is no such member, which the manager isn't. */
export async function deleteMember(
  query: Query,
  teamId: number,
  accountId: number,
): Promise<MemberRole | undefined> {
  const rows = await query<{ member_role: MemberRole }>(
    `DELETE FROM team_members WHERE team_id = :teamId AND account_id = :accountId AND role = 'member'
     RETURNING member_role`,
    { teamId, accountId },
  );
  return rows[0]?.member_role;
}

/** What it was; undefined if there is no such member, which the manager isn't. The team is locked. */
export async function setMemberRole(
  query: Query,
  wanted: { team_id: number; account_id: number; member_role: MemberRole },
): Promise<MemberRole | undefined> {
  const rows = await query<{ before: MemberRole }>(
    `UPDATE team_members AS changed SET member_role = :member_role FROM team_members AS kept
     WHERE changed.team_id = :team_id AND changed.account_id = :account_id AND changed.role = 'member'
       AND kept.account_id = changed.account_id
     RETURNING kept.member_role AS before`,
    wanted,
  );
  return rows[0]?.before;
}

/**
 * All members and invitations have the default role then, since the new manager has chosen none. False if there is no
 * such member.
 */
export async function exchangeRoles(
  query: Query,
  { team_id, manager_id, member_id }: { team_id: number; manager_id: number; member_id: number },
): Promise<boolean> {
  const roles = { team_id, member_role: DEFAULT_MEMBER_ROLE };
  // Two statements: the unique index on managers is checked for each row as it is written.
  await query(
    `UPDATE team_members SET member_role = :member_role,
       role = CASE account_id WHEN :manager_id THEN 'member' ELSE role END
     WHERE team_id = :team_id`,
    { ...roles, manager_id },
  );
  await query('UPDATE team_invitations SET member_role = :member_role WHERE team_id = :team_id', roles);
  const rows = await query(
    `UPDATE team_members SET role = 'manager'
     WHERE team_id = :team_id AND account_id = :member_id AND account_id <> :manager_id RETURNING 1`,
    { team_id, manager_id, member_id },
  );
  return rows.length > 0;
}

/** Also deletes memberships and invitations. Returns the former members, unordered. */
export async function deleteTeam(query: Query, teamId: number): Promise<number[]> {
  const rows = await query<{ account_id: number }>(
    'DELETE FROM team_members WHERE team_id = :teamId RETURNING account_id',
    { teamId },
  );
  await query('DELETE FROM teams WHERE team_id = :teamId', { teamId });
  return rows.map(({ account_id }) => account_id);
}

/** Exact while the team is locked. */
export async function countTaken(query: Query, teamId: number): Promise<Taken> {
  const rows = await query<Taken>(
    `SELECT (SELECT count(*) FROM team_members WHERE team_id = :teamId) AS members,
            (SELECT count(*) FROM team_invitations WHERE team_id = :teamId AND expires_at > now()) AS pending`,
    { teamId },
  );
  return singleRow(rows);
}

export async function managerOf(query: Query, teamId: number): Promise<number> {
  const rows = await query<{ account_id: number }>(
    "SELECT account_id FROM team_members WHERE team_id = :teamId AND role = 'manager'",
    { teamId },
  );
  return singleRow(rows).account_id;
}
