import { Fragment } from 'react';
import { formatNumber } from '../../ui/format.ts';
import styles from '../../ui/page/page.module.css';
import { Badge } from '../../ui/page/states.tsx';
import { BudgetSpent } from '../../ui/usage/budget-spent.tsx';
import { MEMBER_ROLES, roleInWords } from './member-roles.ts';
import type { Team } from './queries.ts';

const BILLING = {
  active: { tone: 'good', label: 'Active', advice: '' },
  grace: {
    tone: 'warning',
    label: 'Grace period',
    advice: 'The billing period has ended. Calls still work for a short time.',
  },
  blocked: { tone: 'danger', label: 'Blocked', advice: 'Calls of the team are refused.' },
  expired: {
    tone: 'danger',
    label: 'Expired',
    advice: 'Calls of the team are refused until the plan is renewed.',
  },
  none: {
    tone: 'danger',
    label: 'No plan',
    advice: 'Calls of the team are refused until its manager has a plan.',
  },
} as const;

/** Who pays, whether calls pass, and how many slots are free. */
export function TeamFacts({ team, accountId }: { team: Team; accountId: number }) {
  const payer = team.members.find(({ account_id }) => account_id === team.payer_id);
  const own = team.members.find(({ account_id }) => account_id === accountId);
  const { tone, label, advice } = BILLING[team.billing_status];
  return (
    <section className={styles['card']} aria-label="Facts">
      <dl className={styles['facts']}>
        <dt>Paid by</dt>
        <dd>{team.payer_id === accountId ? 'You' : `${payer?.name ?? ''} (${payer?.email ?? ''})`}</dd>
        <dt>Your role</dt>
        <dd>{own === undefined ? '' : roleInWords(own)}</dd>
        <dt>Billing status</dt>
        <dd>
          <Badge tone={tone}>{label}</Badge> {advice}
        </dd>
        <dt>Slots</dt>
        <dd>{slotsInWords(team.slots)}</dd>
      </dl>
      <details>
        <summary>What each role may do</summary>
        <dl className={styles['facts']}>
          <dt>Manager</dt>
          <dd>Pays, invites, and does what everyone else may.</dd>
          {MEMBER_ROLES.map(({ value, label: role, description }) => (
            <Fragment key={value}>
              <dt>{role}</dt>
              <dd>{description}</dd>
            </Fragment>
          ))}
        </dl>
      </details>
      {team.role === 'member' && team.budget !== null && (
        <>
          <h2>Your budget</h2>
          <BudgetSpent budget={team.budget} spent={team.budget.spent} />
        </>
      )}
    </section>
  );
}

function slotsInWords({ used, limit }: Team['slots']): string {
  if (limit === null) return `${formatNumber(used)} used, no limit`;
  const free = Math.max(limit - used, 0);
  return `${formatNumber(used)} of ${formatNumber(limit)} used, ${formatNumber(free)} free`;
}
