import { Problem } from '@tollgate/http/problem';
import { recordAudit } from '../platform/audit/audit-log.ts';
import type { Actor, AuditEntry } from '../platform/audit/audit-log.ts';
import { changeOf } from '../platform/audit/change.ts';
import type { Change } from '../platform/audit/change.ts';
import type { Query } from '../platform/database/query.ts';
import { endConnectionsOfMembers } from '../access/connections/end.ts';
import { enqueueMail } from '../mail/mail-outbox.ts';
import { findAccount, lockAccount } from '../identity/accounts/account-store.ts';
import { factorsOf } from '../identity/sessions/factors.ts';
import type { HandOverMail } from './hand-over-mail.ts';
import { endSso, isSsoRequired } from './sso-ends.ts';
import {
  countTaken,
  deleteMember,
  deleteTeam,
  exchangeRoles,
  insertMember,
  insertTeam,
  listMemberIds,
  lockOwnTeam,
  setAllowsApplications,
  setMemberRole,
  setTeamName,
} from './store.ts';
import type { MemberRole } from '../identity/accounts/member-roles.ts';
import type { Role, Team } from './store.ts';

/**
 * Changes under the team's lock, with their audit entries; triggers publish the new payers
 * (docs/design/entitlement.md).
 */

/** What the audit log says of who joins or leaves. */
export const MEMBERSHIP = ['account_id', 'role', 'member_role'] as const;

export type Person = { account_id: number; actor: Actor };

/** @throws {Problem} already_in_team */
export async function createTeam(query: Query, { account_id, actor }: Person, name: string): Promise<void> {
  const team = await insertTeam(query, name);
  if (!(await insertMember(query, { account_id, team_id: team.team_id, role: 'manager' }))) {
    throw new Problem('already_in_team');
  }
  const change = changeOf(['team_id', 'name', 'manager_id'], null, { ...team, manager_id: account_id });
  await auditTeam(query, { account_id, actor }, team, 'team_created', {}, change);
}

/**
 * Makes the account a member of the locked team, and ends what the team forbids. False if it is in a team already.
 */
export async function admitMember(
  query: Query,
  { account_id, actor }: Person,
  { team_id, allows_applications }: Pick<Team, 'team_id' | 'allows_applications'>,
  role: { member_role?: MemberRole } = {},
): Promise<boolean> {
  if (!(await insertMember(query, { account_id, team_id, role: 'member', ...role }))) return false;
  if (!allows_applications) {
    // An exchange that read the account's teams before holds this lock until its connection can be seen.
    await lockAccount(query, account_id);
    await endConnectionsOfMembers(query, [account_id], actor);
  }
  return true;
}

/**
 * Whether applications may act for members. What they have authorized ends when the manager forbids it.
 * @throws {Problem} not_found, forbidden
 */
export async function allowApplications(query: Query, person: Person, isAllowed: boolean): Promise<void> {
  const team = await lockManagedTeam(query, person);
  if (team.allows_applications === isAllowed) return;
  await setAllowsApplications(query, team.team_id, isAllowed);
  await auditTeam(
    query,
    person,
    team,
    isAllowed ? 'team_applications_allowed' : 'team_applications_forbidden',
  );
  if (!isAllowed) {
    await endConnectionsOfMembers(query, await listMemberIds(query, team.team_id), person.actor);
  }
}

/** @throws {Problem} not_found, forbidden */
export async function renameTeam(query: Query, person: Person, name: string): Promise<void> {
  const team = await lockManagedTeam(query, person);
  await setTeamName(query, team.team_id, name);
  await auditTeam(query, person, team, 'team_renamed', { name }, changeOf(['name'], team, { name }));
}

/** @throws {Problem} not_found, also for a non-member; forbidden */
export async function removeMember(query: Query, person: Person, memberId: number): Promise<void> {
  const team = await lockManagedTeam(query, person);
  await expelMember(query, { ...person, account_id: memberId }, team);
}

/** The team is locked. @throws {Problem} not_found, also for a non-member, and for the manager */
export async function expelMember(query: Query, person: Person, team: Team): Promise<void> {
  const { account_id } = person;
  const member_role = await deleteMember(query, team.team_id, account_id);
  if (member_role === undefined) throw new Problem('not_found');
  const change = changeOf(MEMBERSHIP, { account_id, role: 'member', member_role }, null);
  await auditTeam(query, person, team, 'team_member_removed', {}, change);
}

/** @throws {Problem} not_found, also for a non-member; forbidden */
export async function changeMemberRole(
  query: Query,
  person: Person,
  { account_id, member_role }: { account_id: number; member_role: MemberRole },
): Promise<void> {
  const team = await lockManagedTeam(query, person);
  const before = await setMemberRole(query, { team_id: team.team_id, account_id, member_role });
  if (before === undefined) throw new Problem('not_found');
  if (before === member_role) return;
  await auditTeam(query, { ...person, account_id }, team, 'team_member_role_changed', {
    before,
    member_role,
  });
}

/** Ends the team if it has no other member. @throws {Problem} not_found, team_has_members */
export async function leaveTeam(query: Query, person: Person): Promise<void> {
  const { team, role } = await lockTeamOf(query, person);
  if (role === 'member') {
    await deleteMember(query, team.team_id, person.account_id);
    await auditTeam(query, person, team, 'team_left');
    return;
  }
  if ((await countTaken(query, team.team_id)).members > 1) {
    const detail = 'Hand the team over to a member or dissolve it first.';
    throw new Problem('team_has_members', { detail });
  }
  await endTeam(query, person, team);
}

/**
 * The member gets a mail, since they didn't consent.
 * @throws {Problem} not_found, also for a non-member; forbidden; sso_needs_second_factor
 */
export async function handOver(query: Query, person: Person, memberId: number): Promise<void> {
  const team = await lockManagedTeam(query, person);
  const roles = { team_id: team.team_id, manager_id: person.account_id, member_id: memberId };
  // A manager is let in without single sign-on.
  if ((await isSsoRequired(query, team.team_id)) && (await factorsOf(query, memberId)).length === 0) {
    throw new Problem('sso_needs_second_factor', {
      detail:
        'The team requires single sign-on. Its manager needs a second factor, which this member does not have.',
    });
  }
  const next = await findAccount(query, memberId);
  if (next === undefined || !(await exchangeRoles(query, roles))) throw new Problem('not_found');
  await auditTeam(query, person, team, 'team_handed_over', { manager_account_id: memberId });
  const mail: HandOverMail = { kind: 'team_handed_over', recipient: next.email, account_id: memberId };
  await enqueueMail(query, mail);
}

/** @throws {Problem} not_found, forbidden */
export async function dissolveTeam(query: Query, person: Person): Promise<void> {
  await endTeam(query, person, await lockManagedTeam(query, person));
}

/** The team is locked. Its end is in the audit log of everybody who was in it. */
export async function endTeam(query: Query, person: Person, team: Team): Promise<void> {
  await endSso(query, team.team_id, null);
  const change = changeOf(['team_id', 'name'], team, null);
  for (const account_id of (await deleteTeam(query, team.team_id)).toSorted((one, other) => one - other)) {
    await auditTeam(query, { ...person, account_id }, team, 'team_dissolved', {}, change);
  }
}

/** @throws {Problem} not_found, forbidden */
export async function lockManagedTeam(query: Query, person: Person): Promise<Team> {
  const { team, role } = await lockTeamOf(query, person);
  if (role !== 'manager') throw notManager();
  return team;
}

export async function auditTeam(
  query: Query,
  { account_id, actor }: Person,
  { team_id, name }: Pick<Team, 'team_id' | 'name'>,
  action: AuditEntry['action'],
  details: AuditEntry['details'] = {},
  change?: Change,
): Promise<void> {
  await recordAudit(query, {
    ...actor,
    application_id: null,
    account_id,
    action,
    details: { team_id, team_name: name, ...details },
    change,
  });
}

async function lockTeamOf(query: Query, { account_id }: Person): Promise<{ team: Team; role: Role }> {
  const found = await lockOwnTeam(query, account_id);
  if (found === undefined) throw noTeam();
  return found;
}

export function notManager(): Problem {
  return new Problem('forbidden', { detail: 'Only the team manager can do this.' });
}

export function noTeam(): Problem {
  return new Problem('not_found', { detail: 'The account is not in a team.' });
}
