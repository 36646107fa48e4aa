import type { ClientChangeOutbox } from '../../access/client-changes/client-change-outbox.ts';
import { revokeMadeWithin } from '../../access/tokens/made-within.ts';
import { endSessions } from '../../identity/sessions/end-sessions.ts';
import type { AfterCommit, SessionTokens } from '../../identity/sessions/end-sessions.ts';
import type { Account } from '../../identity/accounts/account.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { admitMember, auditTeam } from '../../teams/changes.ts';
import { slotsLimit } from '../../teams/invitations/invitations.ts';
import { isFull } from '../../teams/rules.ts';
import { countTaken, deleteMember, findMembership, managerOf } from '../../teams/store.ts';
import type { Team } from '../../teams/store.ts';
import { ScimError, uniqueness } from '../protocol/scim-error.ts';
import { wantedRole } from '../settings/store.ts';
import { setDeprovisioned, setProvisioned } from './store.ts';
import type { ScimUser } from './store.ts';

/** Who joins and leaves by the directory's word. Lock order: account, team, applications. */

export type MembershipNeeds = SessionTokens &
  Pick<ClientChangeOutbox, 'deliver'> & { query: Query; transact: Transact; wakeMails: () => void };

/** The account and the team are locked. True if the person wasn't a member. @throws {ScimError} */
export async function join(
  query: Query,
  { team, user, account, actor }: { team: Team; user: ScimUser; account: Account; actor: Actor },
): Promise<boolean> {
  const { team_id } = team;
  const { scim_user_id, account_id, user_name } = user;
  if (account.deletion_due_at !== null) throw uniqueness(`The account of ${user_name} is being deleted.`);
  const membership = await findMembership(query, account_id);
  if (membership !== undefined && membership.team_id !== team_id) {
    throw uniqueness(`${user_name} is in another team, and has to leave it first.`);
  }
  const assigned_role = await wantedRole(query, scim_user_id);
  if (membership !== undefined) {
    if (user.provisioned_at === null) await setProvisioned(query, { scim_user_id, assigned_role });
    return false;
  }
  // What it stands for has happened, and it holds a slot.
  await query('DELETE FROM team_invitations WHERE team_id = :team_id AND lower(email) = lower(:email)', {
    team_id,
    email: account.email,
  });
  const manager_id = await managerOf(query, team_id);
  const limit = await slotsLimit(query, manager_id);
  const { members, pending } = await countTaken(query, team_id);
  if (isFull(members + pending, limit)) throw noSlotLeft(limit);
  const person = { account_id, actor };
  if (!(await admitMember(query, person, team, { member_role: assigned_role })))
    throw uniqueness(`${user_name} is in another team.`);
  await setProvisioned(query, { scim_user_id, assigned_role });
  const { email } = account;
  await auditTeam(query, person, team, 'team_joined', { email });
  await auditTeam(query, { account_id: manager_id, actor }, team, 'team_user_provisioned', { email });
  return true;
}

function noSlotLeft(limit: number): ScimError {
  const detail = `The plan of the team's manager allows ${String(limit)} team slots (team_slots_limit), and all are taken.`;
  return new ScimError(403, undefined, detail);
}

/**
 * The account and the team are locked. Sessions, and what was made in the team, end with the membership. What is
 * returned is to be called after the commit. @throws {ScimError} mutability for the manager
 */
export async function leave(
  needs: Pick<MembershipNeeds, 'tokens' | 'deliver'>,
  query: Query,
  { team, user, account, actor }: { team: Team; user: ScimUser; account: Account; actor: Actor },
): Promise<AfterCommit[]> {
  const { team_id } = team;
  const { account_id, scim_user_id, provisioned_at } = user;
  const membership = await findMembership(query, account_id);
  const isIn = membership?.team_id === team_id;
  if (isIn && membership.role === 'manager') throw ofManager();
  if (!isIn && provisioned_at === null) return [];
  const { email } = account;
  if (isIn) {
    await deleteMember(query, team_id, account_id);
    await auditTeam(query, { account_id, actor }, team, 'team_member_removed', { email });
  }
  await auditTeam(query, { account_id: await managerOf(query, team_id), actor }, team, 'team_user_removed', {
    email,
  });
  const told = await endSessions(needs, query, { account_id, actor });
  // What a person makes after leaving by hand is their own.
  const until = isIn ? null : user.left_at;
  const changes =
    provisioned_at === null
      ? []
      : await revokeMadeWithin(query, account_id, { from: provisioned_at, until }, actor);
  await setDeprovisioned(query, scim_user_id);
  return [...told, ...changes.map((change) => () => needs.deliver(change))];
}

export function ofManager(): ScimError {
  return new ScimError(
    403,
    'mutability',
    'This is the manager of the team, who pays. A person has to hand the team over first.',
  );
}
