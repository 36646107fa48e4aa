import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { SelectField } from '../../ui/form/select-field.tsx';
import { formatNumber, formatShare } from '../../ui/format.ts';
import { RowMenu } from '../../ui/list/row-menu.tsx';
import { Table } from '../../ui/list/table.tsx';
import type { Column } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import styles from '../../ui/page/page.module.css';
import { paceQuery } from '../overview/queries.ts';
import { HandOver, RemoveMember } from './member-actions.tsx';
import { MemberBudget } from './member-budget.tsx';
import { ORDERS, inOrder } from './member-order.ts';
import { MemberRoleDialog } from './member-role.tsx';
import { roleInWords } from './member-roles.ts';
import type { Order } from './member-order.ts';
import type { Member, Team, TeamOfManager } from './queries.ts';
import own from './team.module.css';

type UsageOfPeriod = TeamOfManager['former_members_usage'];

type BudgetOfMember = TeamOfManager['members'][number]['budget'];

/** A member, or all former ones together. Usage and budget are only the manager's to see. */
type Row = { member: Member | null; usage?: UsageOfPeriod; budget?: BudgetOfMember };

/** The members; the manager also sees what each has used in this period. */
export function Members({ team, accountId }: { team: Team; accountId: number }) {
  return (
    <section className={styles['card']} aria-labelledby="members">
      <h2 id="members">Members</h2>
      {team.role === 'manager' ? (
        <MembersWithUsage team={team} accountId={accountId} />
      ) : (
        <Table
          label="Members"
          rows={team.members.map((member) => ({ member }))}
          keyOf={keyOf}
          columns={peopleColumns(accountId)}
        />
      )}
    </section>
  );
}

function MembersWithUsage({ team, accountId }: { team: TeamOfManager; accountId: number }) {
  const { data: pace, isPending } = useQuery(paceQuery);
  const [order, setOrder] = useState<string>(ORDERS[0].value);
  const { members, former_members_usage: former } = team;
  const rows: Row[] = inOrder(members, order as Order).map((member) => ({
    member,
    usage: member.usage,
    budget: member.budget,
  }));
  if (hasUsage(former)) rows.push({ member: null, usage: former });
  const limit = pace?.limits.points_limit?.limit;
  const used = rows.reduce((sum, { usage }) => sum + (usage?.points_usage ?? 0), 0);
  const isOfLimit = isPending || limit !== undefined;
  const whole = isOfLimit ? (limit ?? 0) : used;
  return (
    <>
      <p className={styles['muted']}>Usage is that of the current billing period.</p>
      {members.length > 1 && (
        <div className={own['sort']}>
          <SelectField label="Sort by" name="order" options={ORDERS} value={order} onChange={setOrder} />
        </div>
      )}
      <Table
        label="Members"
        rows={rows}
        keyOf={keyOf}
        columns={[
          ...peopleColumns(accountId),
          ...USAGE,
          {
            label: isOfLimit ? 'Share of the limit' : 'Share of all',
            align: 'end',
            cell: ({ usage }) => usage && whole > 0 && <Share share={usage.points_usage / whole} />,
          },
          ...(members.some(({ budget }) => budget !== null) ? [BUDGET] : []),
        ]}
        actions={({ member }) => <MemberMenu member={member} />}
      />
    </>
  );
}

const keyOf = ({ member }: Row) => member?.account_id ?? 'former';

/** The bar only repeats the figure. */
function Share({ share }: { share: number }) {
  return (
    <span className={own['share']}>
      <span className={styles['bar']} aria-hidden="true">
        <span className={styles['fill']} style={{ width: `${String(Math.min(share, 1) * 100)}%` }} />
      </span>
      {formatShare(share)}
    </span>
  );
}

function MemberMenu({ member }: { member: Member | null }) {
  if (member?.role !== 'member') return null;
  return (
    <RowMenu
      name={member.name}
      actions={[
        {
          label: 'Change role',
          dialog: (state) => <MemberRoleDialog {...state} member={member} />,
        },
        { label: 'Set budget', dialog: (state) => <MemberBudget {...state} member={member} /> },
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
    { label: 'Role', cell: ({ member }) => member && roleInWords(member) },
    { label: 'Joined', onCard: 'none', cell: ({ member }) => member && <Moment at={member.joined_at} /> },
  ];
}

const USAGE: readonly Column<Row>[] = (['Points', 'Requests'] as const).map((label) => ({
  label,
  align: 'end',
  cell: ({ usage }) =>
    usage ? formatNumber(label === 'Points' ? usage.points_usage : usage.requests_usage) : 'No plan',
}));

/** `120 of 5,000 today`, and of the period. */
const BUDGET: Column<Row> = {
  label: 'Budget',
  align: 'end',
  cell: ({ budget }) =>
    budget && (
      <span className={own['budget']}>
        {budget.points_per_day !== null && (
          <span>
            {formatNumber(budget.spent.points_today)} of {formatNumber(budget.points_per_day)} today
          </span>
        )}
        {budget.points_per_period !== null && (
          <span>
            {formatNumber(budget.spent.points_in_period ?? 0)} of {formatNumber(budget.points_per_period)}{' '}
            this period
          </span>
        )}
      </span>
    ),
};

function hasUsage(usage: UsageOfPeriod): boolean {
  return usage !== null && Object.values(usage).some((count) => count > 0);
}
