import { USAGE_FIELDS } from '@tollgate/contracts/usage-response';
import { exportTable, onePage } from './export-file.ts';
import type { ExportRecord } from './export-file.ts';
import type { Source } from './source.ts';

export const teamFile: ExportRecord = {
  name: 'team',
  description: 'Your team and your role in it. null without a team.',
  read: ({ team }) => {
    if (team === null) return null;
    const { team_id, name, created_at, role, payer_id, billing_status, slots } = team;
    return { team_id, name, created_at, role, payer_id, billing_status, slots };
  },
};

export const teamMembers = exportTable({
  name: 'team-members',
  description:
    'If you manage a team, its members and what they used in the current billing period. If you are a member, only you.',
  columns: ['account_id', 'name', 'email', 'role', 'joined_at', ...USAGE_FIELDS],
  pages: (source) => onePage(membersOf(source)),
});

type Member = NonNullable<Source['team']>['members'][number];

type MemberRow = Omit<Member, 'usage'> & Readonly<Record<(typeof USAGE_FIELDS)[number], number | null>>;

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
    return team.members.map(({ usage, ...member }) => ({ ...member, ...(usage ?? NO_USAGE) }));
  }
  return team.members
    .filter((member) => member.account_id === account_id)
    .map((member) => ({ ...member, ...NO_USAGE }));
}

export const teamInvitations = exportTable({
  name: 'team-invitations',
  description: 'If you manage a team, its open invitations.',
  columns: ['invitation_id', 'email', 'status', 'created_at', 'expires_at'],
  pages: ({ team }) => onePage(team !== null && 'invitations' in team ? team.invitations : []),
});
