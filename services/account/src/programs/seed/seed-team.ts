import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';

type Membership = { account_id: number; team_id: number; role: 'manager' | 'member' };

/** Creates the team if necessary. */
export async function seedTeam(
  query: Query,
  { managerId, memberId }: { managerId: number; memberId: number },
): Promise<void> {
  const memberships = await query<Membership>(
    'SELECT account_id, team_id, role FROM team_members WHERE account_id IN (:managerId, :memberId)',
    { managerId, memberId },
  );
  const manages = memberships.find(({ account_id, role }) => account_id === managerId && role === 'manager');
  const team_id = manages?.team_id ?? (await insertTeam(query, managerId));
  const belongs = memberships.find(({ account_id }) => account_id === memberId);
  if (belongs?.team_id === team_id) return;
  await insertMember(query, { account_id: memberId, team_id, role: 'member' });
}

async function insertTeam(query: Query, managerId: number): Promise<number> {
  const made = await query<{ team_id: number }>(
    "INSERT INTO teams (name) VALUES ('Sample team') RETURNING team_id",
  );
  const { team_id } = singleRow(made);
  await insertMember(query, { account_id: managerId, team_id, role: 'manager' });
  return team_id;
}

async function insertMember(query: Query, member: Membership): Promise<void> {
  await query(
    'INSERT INTO team_members (account_id, team_id, role) VALUES (:account_id, :team_id, :role)',
    member,
  );
}
