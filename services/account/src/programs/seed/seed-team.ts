import type { Knex } from 'knex';
import { onlyRow } from '../../platform/database/only-row.ts';

type Membership = { account_id: number; team_id: number; role: 'manager' | 'member' };

/** Puts both accounts into one team, the first as its manager; makes the team where there is none. */
export async function seedTeam(
  transaction: Knex,
  { managerId, memberId }: { managerId: number; memberId: number },
): Promise<void> {
  const memberships = await transaction<Membership>('team_members').whereIn('account_id', [
    managerId,
    memberId,
  ]);
  const manages = memberships.find(({ account_id, role }) => account_id === managerId && role === 'manager');
  const team_id = manages?.team_id ?? (await insertTeam(transaction, managerId));
  const belongs = memberships.find(({ account_id }) => account_id === memberId);
  if (belongs?.team_id === team_id) return;
  await transaction<Membership>('team_members').insert({ account_id: memberId, team_id, role: 'member' });
}

async function insertTeam(transaction: Knex, managerId: number): Promise<number> {
  const made = await transaction('teams')
    .insert({ name: 'Sample team' })
    .returning<{ team_id: number }[]>('team_id');
  const { team_id } = onlyRow(made);
  await transaction<Membership>('team_members').insert({
    account_id: managerId,
    team_id,
    role: 'manager',
  });
  return team_id;
}
