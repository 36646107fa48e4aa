import { Problem } from '@tollgate/http/problem';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import type { Query } from '../../platform/database/query.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { admitMember, auditTeam, endTeam, lockManagedTeam } from '../changes.ts';
import type { Person } from '../changes.ts';
import type { InvitationMail } from './invitation-mail.ts';
import {
  deleteExpired,
  deleteInvitation,
  findAddress,
  findInvitation,
  insertInvitation,
  withdrawInvitation,
} from './invitation-store.ts';
import type { Invitation, InvitationKey } from './invitation-store.ts';
import { DEFAULT_MEMBER_ROLE } from '../../identity/accounts/member-roles.ts';
import type { MemberRole } from '../../identity/accounts/member-roles.ts';
import { isFull } from '../rules.ts';
import { noSlotLeft, slotsLimitOf } from '../slots.ts';
import { countTaken, findMembership, lockTeams, managerOf } from '../store.ts';
import type { Team } from '../store.ts';

/**
 * Doesn't reveal whether the address has an account, except for this team's own members.
 * @throws {Problem} not_found, forbidden; invitation_pending, already_member, team_slots_limit_exceeded
 */
export async function invite(
  query: Query,
  person: Person,
  { email, member_role = DEFAULT_MEMBER_ROLE }: { email: string; member_role?: MemberRole | undefined },
): Promise<Invitation> {
  const team = await lockManagedTeam(query, person);
  await deleteExpired(query, team.team_id, email);
  const { is_invited, is_member } = await findAddress(query, team.team_id, email);
  if (is_member) throw new Problem('already_member');
  if (is_invited) throw new Problem('invitation_pending');
  const limit = await slotsLimit(query, person.account_id);
  const { members, pending } = await countTaken(query, team.team_id);
  if (isFull(members + pending, limit)) throw noSlotLeft(limit);
  const { account_id: invited_by } = person;
  const invitation = await insertInvitation(query, { team_id: team.team_id, email, invited_by, member_role });
  const { invitation_id } = invitation;
  await auditTeam(query, person, team, 'team_invitation_made', { invitation_id, email, member_role });
  const mail: InvitationMail = { kind: 'team_invitation', recipient: email, invitation_id };
  await enqueueMail(query, mail);
  return invitation;
}

/** Also removes an expired one from the list. @throws {Problem} not_found, forbidden */
export async function withdraw(query: Query, person: Person, invitationId: number): Promise<void> {
  const team = await lockManagedTeam(query, person);
  const invitation = await withdrawInvitation(query, team.team_id, invitationId);
  if (invitation === undefined) throw new Problem('not_found');
  const { email, invitation_id } = invitation;
  await auditTeam(query, person, team, 'team_invitation_withdrawn', { invitation_id, email });
}

/**
 * Ends a team that the account manages alone. Locks both teams in id order.
 * @throws {Problem} not_found, already_in_team, team_slots_limit_exceeded
 */
export async function accept(query: Query, person: Person, key: InvitationKey): Promise<void> {
  const { account_id } = person;
  const invitation = await foundInvitation(query, key);
  const before = await findMembership(query, account_id);
  const ids = [invitation.team_id, ...(before === undefined ? [] : [before.team_id])];
  const teams = await lockTeams(query, ids);
  const team = teams.find(({ team_id }) => team_id === invitation.team_id);
  if (team === undefined) throw new Problem('not_found');
  const { invitation_id, email, member_role } = await takeInvitation(query, team, invitation.invitation_id);
  await leaveAlone(query, person, teams, team);
  const limit = await slotsLimit(query, await managerOf(query, team.team_id));
  // Its invitation holds a slot already, but the plan may have shrunk.
  if (isFull((await countTaken(query, team.team_id)).members, limit)) throw noSlotLeft(limit);
  if (!(await admitMember(query, person, team, { member_role }))) {
    throw new Problem('already_in_team');
  }
  await auditTeam(query, person, team, 'team_joined', { invitation_id, email });
}

/** Without an account, the mail's token is enough. @throws {Problem} not_found */
export async function decline(
  query: Query,
  by: Person | { account_id: null; actor: Person['actor'] },
  key: InvitationKey,
): Promise<void> {
  const { team_id, invitation_id: wanted } = await foundInvitation(query, key);
  const [team] = await lockTeams(query, [team_id]);
  if (team === undefined) throw new Problem('not_found');
  const { invitation_id, email, invited_by } = await takeInvitation(query, team, wanted);
  const person = { actor: by.actor, account_id: by.account_id ?? invited_by };
  await auditTeam(query, person, team, 'team_invitation_declined', { invitation_id, email });
}

/** @throws {Problem} already_in_team, unless the account manages one of the locked teams alone */
async function leaveAlone(
  query: Query,
  person: Person,
  locked: readonly Team[],
  target: Team,
): Promise<void> {
  const membership = await findMembership(query, person.account_id);
  if (membership === undefined) return;
  const own = locked.find(({ team_id }) => team_id === membership.team_id);
  const isAlone =
    own !== undefined &&
    own !== target &&
    membership.role === 'manager' &&
    (await countTaken(query, own.team_id)).members === 1;
  if (!isAlone) throw new Problem('already_in_team');
  await endTeam(query, person, own);
}

async function foundInvitation(query: Query, key: InvitationKey): Promise<Invitation> {
  const invitation = await findInvitation(query, key);
  if (invitation === undefined) throw new Problem('not_found');
  return invitation;
}

async function takeInvitation(query: Query, { team_id }: Team, invitationId: number): Promise<Invitation> {
  const invitation = await deleteInvitation(query, team_id, invitationId);
  if (invitation === undefined) throw new Problem('not_found');
  return invitation;
}

/** Null without a limit. */
export async function slotsLimit(query: Query, managerId: number): Promise<number | null> {
  const now = new Date();
  const payerPeriods = await findPayerPeriods(query, managerId, now);
  return payerPeriods === undefined ? null : slotsLimitOf(payerPeriods, now);
}
