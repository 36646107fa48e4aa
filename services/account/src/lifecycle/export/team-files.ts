import type { Budget } from '@tollgate/contracts/entitlement';
import { USAGE_FIELDS } from '@tollgate/contracts/usage-response';
import { exportTable, onePage } from './export-file.ts';
import type { ExportRecord } from './export-file.ts';
import type { Source } from './source.ts';
import { findProvisionedUser } from './store.ts';

export const teamFile: ExportRecord = {
  name: 'team',
  description: 'Your team and your role in it. null without a team.',
  read: ({ team }) => {
    if (team === null) return null;
    const { team_id, name, created_at, role, payer_id, billing_status, slots } = team;
    return { team_id, name, created_at, role, payer_id, billing_status, slots };
  },
};

const BUDGET_FIELDS = ['points_per_period', 'points_per_day'] as const;

export const teamMembers = exportTable({
  name: 'team-members',
  description:
    'If you manage a team, its members, what they used in the current billing period and what they may spend (points_per_period, points_per_day; empty is no limit). If you are a member, only you.',
  columns: ['account_id', 'name', 'email', 'role', 'joined_at', ...USAGE_FIELDS, ...BUDGET_FIELDS],
  pages: (source) => onePage(membersOf(source)),
});

type Member = NonNullable<Source['team']>['members'][number];

type MemberRow = Omit<Member, 'usage' | 'budget'> &
  Readonly<Record<(typeof USAGE_FIELDS)[number] | (typeof BUDGET_FIELDS)[number], number | null>>;

const NO_USAGE = {
  points_usage: null,
  requests_usage: null,
  time_sec_usage: null,
  traffic_bytes_usage: null,
};

/** Members see each other on the Team page, but their exports contain only their own address. */
function membersOf({ team, account_id }: Source): MemberRow[] {
  if (team === null) return [];
  if ('invitations' in team) {
    return team.members.map(({ usage, budget, ...member }) => ({
      ...member,
      ...(usage ?? NO_USAGE),
      ...figuresOf(budget),
    }));
  }
  return team.members
    .filter((member) => member.account_id === account_id)
    .map((member) => ({ ...member, ...NO_USAGE, ...figuresOf(team.budget) }));
}

function figuresOf(budget: Budget | null): Budget {
  return {
    points_per_period: budget?.points_per_period ?? null,
    points_per_day: budget?.points_per_day ?? null,
  };
}

/** Only while the directory has the person: what it has deleted is deleted. */
export const provisioningFile: ExportRecord = {
  name: 'provisioning',
  description:
    "What your company's directory has sent about you, if it provisions your team. null without one.",
  read: async ({ query, account_id }) => (await findProvisionedUser(query, account_id)) ?? null,
};

export const teamInvitations = exportTable({
  name: 'team-invitations',
  description: 'If you manage a team, its open invitations.',
  columns: ['invitation_id', 'email', 'status', 'created_at', 'expires_at'],
  pages: ({ team }) => onePage(team !== null && 'invitations' in team ? team.invitations : []),
});
