import { formatNumber } from '../../ui/format.ts';
import { RowMenu } from '../../ui/list/row-menu.tsx';
import { Table } from '../../ui/list/table.tsx';
import type { Column } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import styles from '../../ui/page/page.module.css';
import { HandOver, RemoveMember } from './member-actions.tsx';
import type { Member, Team, TeamOfManager } from './queries.ts';

type UsageOfPeriod = TeamOfManager['former_members_usage'];

/** A member, or all former ones together. The usage is only the manager's to see. */
type Row = { member: Member | null; usage?: UsageOfPeriod };

/** The members; the manager also sees what each has used in this period. */
export function Members({ team, accountId }: { team: Team; accountId: number }) {
  const isManager = team.role === 'manager';
  const rows: Row[] = isManager
    ? team.members.map((member) => ({ member, usage: member.usage }))
    : team.members.map((member) => ({ member }));
  if (isManager && hasUsage(team.former_members_usage))
    rows.push({ member: null, usage: team.former_members_usage });
  return (
    <section className={styles['card']} aria-labelledby="members">
      <h2 id="members">Members</h2>
      {isManager && <p className={styles['muted']}>Usage is that of the current billing period.</p>}
      <Table
        label="Members"
        rows={rows}
        keyOf={({ member }) => member?.account_id ?? 'former'}
        columns={isManager ? [...peopleColumns(accountId), ...USAGE] : peopleColumns(accountId)}
        {...(isManager ? { actions: ({ member }: Row) => <MemberMenu member={member} /> } : {})}
      />
    </section>
  );
}

function MemberMenu({ member }: { member: Member | null }) {
  if (member?.role !== 'member') return null;
  return (
    <RowMenu
      name={member.name}
      actions={[
        { label: 'Make manager', dialog: (state) => <HandOver {...state} member={member} /> },
        {
          label: 'Remove',
          isDangerous: true,
          dialog: (state) => <RemoveMember {...state} member={member} />,
        },
      ]}
    />
  );
}

function peopleColumns(accountId: number): Column<Row>[] {
  return [
    {
      label: 'Name',
      onCard: 'title',
      cell: ({ member }) =>
        member === null ? (
          'Former members'
        ) : (
          <span>
            <bdi>{member.name}</bdi>
            {member.account_id === accountId && ' (you)'}
          </span>
        ),
    },
    { label: 'Email', onCard: 'status', cell: ({ member }) => member?.email },
    { label: 'Role', cell: ({ member }) => member && (member.role === 'manager' ? 'Manager' : 'Member') },
    { label: 'Joined', onCard: 'none', cell: ({ member }) => member && <Moment at={member.joined_at} /> },
  ];
}

const USAGE: readonly Column<Row>[] = (['Points', 'Requests'] as const).map((label) => ({
  label,
  align: 'end',
  cell: ({ usage }) =>
    usage ? formatNumber(label === 'Points' ? usage.points_usage : usage.requests_usage) : 'No plan',
}));

function hasUsage(usage: UsageOfPeriod): boolean {
  return usage !== null && Object.values(usage).some((count) => count > 0);
}
