import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { DEFAULT_MEMBER_ROLE } from '../../identity/accounts/member-roles.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { MEMBERSHIP, admitMember, auditTeam, createTeam, endTeam, expelMember } from '../changes.ts';
import { slotsLimit } from '../invitations/invitations.ts';
import { isFull } from '../rules.ts';
import { noSlotLeft } from '../slots.ts';
import { countTaken, findMembership, lockTeams, managerOf } from '../store.ts';
import type { Team } from '../store.ts';

/** Operators add members without invitations. The team's lock and limits are those of the console. */

/** @throws {Problem} invalid_request, already_in_team */
export async function createTeamOf(
  query: Query,
  { account_id, name }: { account_id: number; name: string },
  by: Actor,
): Promise<number> {
  await requireAccount(query, account_id);
  await createTeam(query, { account_id, actor: by }, name);
  const made = await findMembership(query, account_id);
  if (made === undefined) throw new Problem('not_found');
  return made.team_id;
}

/** @throws {Problem} not_found, invalid_request, already_in_team, team_slots_limit_exceeded */
export async function addMember(query: Query, teamId: number, account_id: number, by: Actor): Promise<void> {
  await requireAccount(query, account_id);
  const team = await lockTeam(query, teamId);
  const limit = await slotsLimit(query, await managerOf(query, teamId));
  const { members, pending } = await countTaken(query, teamId);
  if (isFull(members + pending, limit)) throw noSlotLeft(limit);
  if (!(await admitMember(query, { account_id, actor: by }, team))) {
    throw new Problem('already_in_team');
  }
  const joined = { account_id, role: 'member', member_role: DEFAULT_MEMBER_ROLE };
  const change = changeOf(MEMBERSHIP, null, joined);
  await auditTeam(query, { account_id, actor: by }, team, 'team_joined', {}, change);
}

/** @throws {Problem} not_found, also for the manager */
export async function expelAnyMember(
  query: Query,
  teamId: number,
  account_id: number,
  by: Actor,
): Promise<void> {
  const team = await lockTeam(query, teamId);
  await expelMember(query, { account_id, actor: by }, team);
}

/** @throws {Problem} not_found */
export async function removeTeam(query: Query, teamId: number, by: Actor): Promise<void> {
  const team = await lockTeam(query, teamId);
  const account_id = await managerOf(query, teamId);
  await endTeam(query, { account_id, actor: by }, team);
}

async function lockTeam(query: Query, teamId: number): Promise<Team> {
  const [team] = await lockTeams(query, [teamId]);
  if (team === undefined) throw new Problem('not_found');
  return team;
}

async function requireAccount(query: Query, accountId: number): Promise<void> {
  if ((await lockAccount(query, accountId)) !== undefined) return;
  throw invalidFields([{ field: 'account_id', message: 'there is no such account' }]);
}
