import { Link } from '@tanstack/react-router';
import { daysUntil, formatNumber, formatTime } from '../../ui/format.ts';
import { PeriodDays } from '../../ui/moment.tsx';
import { Badge } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import type { Pace } from './queries.ts';
import { SOME_REFUSED, statusText } from './status.ts';
import styles from './overview.module.css';

/** The status in words, and the plan and the period that it belongs to. */
export function StatusCard({ pace, areSomeRefused }: { pace: Pace; areSomeRefused: boolean }) {
  const { billing_period: period, payer } = pace;
  const ofPlan = statusText(pace);
  const { tone, label, advice } = ofPlan.tone === 'good' && areSomeRefused ? SOME_REFUSED : ofPlan;
  const daysLeft = daysUntil(period.ended_at);
  return (
    <section className={page['card']} aria-label="Plan">
      <p className={styles['status']}>
        <Badge tone={tone}>{label}</Badge>
        <span>
          {advice} {tone === 'warning' && areSomeRefused && <Link to="/requests">See why</Link>}
        </span>
      </p>
      <dl className={styles['facts']}>
        <div>
          <dt>Plan</dt>
          <dd>
            <Link to="/plan">{period.plan_name}</Link>
          </dd>
        </div>
        {period.product !== null && (
          <div>
            <dt>Product</dt>
            <dd>
              <bdi>{period.product.name}</bdi>
            </dd>
          </div>
        )}
        <div>
          <dt>Billing period</dt>
          <dd>
            <PeriodDays period={period} />
          </dd>
        </div>
        <div>
          <dt>Days left</dt>
          <dd>{formatNumber(daysLeft)}</dd>
        </div>
        {payer !== null && (
          <div>
            <dt>Paid by</dt>
            <dd>
              <bdi>{payer.name}</bdi> <span className={styles['muted']}>{payer.email}</span>
            </dd>
          </div>
        )}
      </dl>
    </section>
  );
}

/** Whether the figures are live, and from when they are if not. */
export function Freshness({ isPaused, updatedAtMs }: { isPaused: boolean; updatedAtMs: number }) {
  return (
    <p role="status" className={styles['muted']}>
      {isPaused ? `Live figures are paused. They are from ${formatTime(updatedAtMs)}.` : 'Live'}
    </p>
  );
}
