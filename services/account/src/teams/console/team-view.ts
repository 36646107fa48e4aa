import { findSpent, findSpentToday } from '../../billing/budgets/spent.ts';
import { findMemberBudgets } from '../../billing/budgets/store.ts';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import { sumUsage } from '../../billing/periods/usage-sums.ts';
import type { ReportedUsage } from '../../billing/periods/usage-sums.ts';
import type { Query } from '../../platform/database/query.ts';
import { entitlementAnswer } from '../../billing/entitlements/entitlement-answer.ts';
import { noTeam } from '../changes.ts';
import { listInvitations } from '../invitations/invitation-store.ts';
import type { Invitation } from '../invitations/invitation-store.ts';
import { findMemberUsage } from './member-usage.ts';
import { slotsLimitOf } from '../slots.ts';
import type { MemberRole } from '../../identity/accounts/member-roles.ts';
import type { Role } from '../store.ts';

type Member = {
  account_id: number;
  name: string;
  email: string;
  role: Role;
  member_role: MemberRole | null;
  joined_at: Date;
};

type Row = Member & {
  team_id: number;
  team_name: string;
  created_at: Date;
  allows_applications: boolean;
};

const MEMBERS_SQL = `
  SELECT teams.team_id, teams.name AS team_name, teams.created_at, allows_applications,
         account_id, accounts.name, email, role, joined_at,
         CASE role WHEN 'member' THEN member_role END AS member_role
  FROM team_members JOIN teams USING (team_id) JOIN accounts USING (account_id)
  WHERE team_id = (SELECT team_id FROM team_members WHERE account_id = :accountId)
  ORDER BY role = 'manager' DESC, joined_at, account_id`;

/** At most seven statements, however large the team is. @throws {Problem} not_found */
export async function teamView(query: Query, accountId: number) {
  const now = new Date();
  const rows = await query<Row>(MEMBERS_SQL, { accountId });
  const payerPeriods = await findPayerPeriods(query, accountId, now);
  const own = rows.find(({ account_id }) => account_id === accountId);
  if (own === undefined || payerPeriods === undefined) throw noTeam();
  const { team_id, team_name, created_at, allows_applications, role } = own;
  const { payer_id, status } = entitlementAnswer(payerPeriods);
  const invitations = await listInvitations(query, team_id);
  const pending = invitations.filter((invitation) => invitation.status === 'pending');
  const members = rows.map(memberAnswer);
  const seen = {
    team_id,
    name: team_name,
    created_at,
    allows_applications,
    payer_id,
    billing_status: status,
    slots: { used: rows.length + pending.length, limit: slotsLimitOf(payerPeriods, now) },
  };
  if (role === 'member') {
    const budget = (await findMemberBudgets(query, [accountId])).get(accountId);
    const spent = budget === undefined ? null : await findSpent(query, { account_id: accountId });
    return { ...seen, role, members, budget: budget && spent ? { ...budget, spent } : null };
  }

  const used = await findMemberUsage(query, payerPeriods, now);
  const usageOf = (isMeant: (accountId: number) => boolean) =>
    used === undefined ? null : sumUsage(used.filter(({ account_id }) => isMeant(account_id)));
  const budgets = await findMemberBudgets(
    query,
    rows.map(({ account_id }) => account_id),
  );
  const spentToday = budgets.size === 0 ? null : await findSpentToday(query, payer_id, [...budgets.keys()]);
  const budgetOf = (accountId: number, usage: ReportedUsage | null) => {
    const budget = budgets.get(accountId);
    if (budget === undefined) return null;
    const points_today = spentToday?.get(accountId) ?? 0;
    return { ...budget, spent: { points_in_period: usage?.points_usage ?? null, points_today } };
  };
  const inTeam = new Set(rows.map(({ account_id }) => account_id));
  return {
    ...seen,
    role,
    members: members.map((member) => {
      const usage = usageOf((id) => id === member.account_id);
      return { ...member, usage, budget: budgetOf(member.account_id, usage) };
    }),
    // Included, so that the sum is the plan's usage.
    former_members_usage: usageOf((id) => !inTeam.has(id)),
    invitations: invitations.map((sent) => ({
      ...invitationAnswer(sent),
      member_role: sent.member_role,
      status: sent.status,
    })),
  };
}

export function invitationAnswer({ invitation_id, email, created_at, expires_at }: Invitation) {
  return { invitation_id, email, created_at, expires_at };
}

function memberAnswer({ account_id, name, email, role, member_role, joined_at }: Member): Member {
  return { account_id, name, email, role, member_role, joined_at };
}
