import { formatNumber } from '../../ui/format.ts';
import { ActionsCell, NumberCell, Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import styles from '../../ui/page/page.module.css';
import { HandOver, RemoveMember } from './member-actions.tsx';
import type { Member, Team, TeamOfManager } from './queries.ts';

const PEOPLE = ['Name', 'Email', 'Role', 'Joined'] as const;
const USAGE = [
  { label: 'Points', align: 'end' },
  { label: 'Requests', align: 'end' },
] as const;

/** The members; the manager also sees what each has used in this period. */
export function Members({ team, accountId }: { team: Team; accountId: number }) {
  const isManager = team.role === 'manager';
  return (
    <section className={styles['card']} aria-labelledby="members">
      <h2 id="members">Members</h2>
      {isManager && <p className={styles['muted']}>Usage is that of the current billing period.</p>}
      <Table label="Members" columns={isManager ? [...PEOPLE, ...USAGE, 'Actions'] : PEOPLE}>
        {isManager
          ? team.members.map((member) => (
              <tr key={member.account_id}>
                <Person member={member} isSelf={member.account_id === accountId} />
                <Usage usage={member.usage} />
                <ActionsCell>
                  {member.role === 'member' && (
                    <>
                      <HandOver member={member} />
                      <RemoveMember member={member} />
                    </>
                  )}
                </ActionsCell>
              </tr>
            ))
          : team.members.map((member) => (
              <tr key={member.account_id}>
                <Person member={member} isSelf={member.account_id === accountId} />
              </tr>
            ))}
        {isManager && hasUsage(team.former_members_usage) && (
          <tr>
            <td colSpan={PEOPLE.length}>Former members</td>
            <Usage usage={team.former_members_usage} />
            <td />
          </tr>
        )}
      </Table>
    </section>
  );
}

function Person({ member, isSelf }: { member: Member; isSelf: boolean }) {
  return (
    <>
      <td>
        <bdi>{member.name}</bdi>
        {isSelf && ' (you)'}
      </td>
      <td>{member.email}</td>
      <td>{member.role === 'manager' ? 'Manager' : 'Member'}</td>
      <td>
        <Moment at={member.joined_at} />
      </td>
    </>
  );
}

type UsageOfPeriod = TeamOfManager['former_members_usage'];

function Usage({ usage }: { usage: UsageOfPeriod }) {
  return (
    <>
      <NumberCell>{usage === null ? 'No plan' : formatNumber(usage.points_usage)}</NumberCell>
      <NumberCell>{usage === null ? 'No plan' : formatNumber(usage.requests_usage)}</NumberCell>
    </>
  );
}

function hasUsage(usage: UsageOfPeriod): boolean {
  return usage !== null && Object.values(usage).some((count) => count > 0);
}
