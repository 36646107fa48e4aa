import type { Budget } from '@tollgate/contracts/entitlement';
import { Problem } from '@tollgate/http/problem';
import { isOwned } from '../access/applications/application.ts';
import type { Application, ApplicationKey } from '../access/applications/application.ts';
import { lockApplication } from '../access/applications/store.ts';
import {
  findApplicationBudget,
  findMemberBudget,
  setApplicationBudget,
  setMemberBudget,
} from '../billing/budgets/store.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import type { Actor } from '../platform/audit/audit-log.ts';
import { changeOf } from '../platform/audit/change.ts';
import type { Change } from '../platform/audit/change.ts';
import type { Query } from '../platform/database/query.ts';
import { auditTeam, lockManagedTeam, noTeam, notManager } from '../teams/changes.ts';
import type { Person } from '../teams/changes.ts';
import { findMembership, lockOwnTeam } from '../teams/store.ts';
import type { Team } from '../teams/store.ts';

/** Triggers publish the changed entitlements (docs/design/entitlement.md). */

const FIGURES = ['points_per_period', 'points_per_day'] as const;

/** The owner's figures. @throws {Problem} not_found */
export async function changeApplicationBudget(
  query: Query,
  key: ApplicationKey,
  wanted: Budget,
  by: Actor,
): Promise<void> {
  const application = await lockApplication(query, key);
  if (!isOwned(application)) throw new Problem('not_found');
  const { points_per_period, points_per_day } = await findApplicationBudget(query, key.application_id);
  const details = differences({ points_per_period, points_per_day }, wanted);
  if (details === null) return;
  await setApplicationBudget(query, key.application_id, 'owner', wanted);
  const change = changeOf(FIGURES, { points_per_period, points_per_day }, wanted);
  await auditApplication(query, application, by, details, change);
}

/**
 * The manager's figures for a member's application.
 * @throws {Problem} not_found, also for the application of a non-member; forbidden
 */
export async function changeManagedBudget(
  query: Query,
  person: Person,
  application_id: number,
  wanted: Budget,
): Promise<void> {
  const team = await lockManagedTeam(query, person);
  const application = await lockApplication(query, { application_id, owner_id: null });
  if (!isOwned(application)) throw new Problem('not_found');
  await requireMember(query, team, application.account_id);
  const before = await findApplicationBudget(query, application_id);
  const { manager_points_per_period, manager_points_per_day } = before;
  const own = { points_per_period: manager_points_per_period, points_per_day: manager_points_per_day };
  const details = differences(own, wanted);
  if (details === null) return;
  await setApplicationBudget(query, application_id, 'manager', wanted);
  const change = changeOf(['manager_points_per_period', 'manager_points_per_day'], before, {
    manager_points_per_period: wanted.points_per_period,
    manager_points_per_day: wanted.points_per_day,
  });
  await auditApplication(query, application, person.actor, details, change);
}

/** @throws {Problem} not_found, also for a non-member; forbidden */
export async function changeMemberBudget(
  query: Query,
  person: Person,
  memberId: number,
  wanted: Budget,
): Promise<void> {
  const team = await lockManagedTeam(query, person);
  await requireMember(query, team, memberId);
  await changeBudgetOf(query, { account_id: memberId, team }, wanted, person.actor);
}

/** As an operator. @throws {Problem} not_found, also for an account that is no member of a team */
export async function changeAnyMemberBudget(
  query: Query,
  account_id: number,
  wanted: Budget,
  by: Actor,
): Promise<void> {
  const found = await lockOwnTeam(query, account_id);
  if (found?.role !== 'member') throw noMember();
  await changeBudgetOf(query, { account_id, team: found.team }, wanted, by);
}

/** For reading: without locks. @throws {Problem} not_found, also for a non-member; forbidden */
export async function requireManagedMember(query: Query, managerId: number, memberId: number): Promise<void> {
  const own = await findMembership(query, managerId);
  if (own === undefined) throw noTeam();
  if (own.role !== 'manager') throw notManager();
  await requireMember(query, own, memberId);
}

/** @throws {Problem} not_found */
async function requireMember(
  query: Query,
  { team_id }: Pick<Team, 'team_id'>,
  accountId: number,
): Promise<void> {
  const membership = await findMembership(query, accountId);
  if (membership?.team_id !== team_id || membership.role !== 'member') throw noMember();
}

export function noMember(): Problem {
  return new Problem('not_found', { detail: 'The account is not a member of the team.' });
}

/** The team is locked, and the account is its member. */
async function changeBudgetOf(
  query: Query,
  { account_id, team }: { account_id: number; team: Team },
  wanted: Budget,
  actor: Actor,
): Promise<void> {
  const before = await findMemberBudget(query, account_id);
  const details = differences(before, wanted);
  if (details === null) return;
  await setMemberBudget(query, account_id, wanted);
  const change = changeOf(FIGURES, before, wanted);
  await auditTeam(query, { account_id, actor }, team, 'member_budget_changed', details, change);
}

async function auditApplication(
  query: Query,
  { account_id, application_id, name }: Application,
  by: Actor,
  details: Readonly<Record<string, unknown>>,
  change: Change | undefined,
): Promise<void> {
  await recordAudit(query, {
    ...by,
    action: 'application_budget_changed',
    account_id,
    application_id,
    details: { name, ...details },
    change,
  });
}

/** Null if nothing differs. */
function differences(before: Budget, after: Budget): Readonly<Record<string, unknown>> | null {
  if (before.points_per_period === after.points_per_period && before.points_per_day === after.points_per_day)
    return null;
  return {
    ...after,
    points_per_period_before: before.points_per_period,
    points_per_day_before: before.points_per_day,
  };
}
