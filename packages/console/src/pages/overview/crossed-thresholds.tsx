import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/format.ts';
import { Moment } from '../../ui/moment.tsx';
import page from '../../ui/page/page.module.css';
import { LIMIT_NAMES } from './limit-names.ts';
import type { Pace } from './queries.ts';
import styles from './overview.module.css';

type Threshold = Pace['crossed_thresholds'][number];

/** The highest threshold that each limit has crossed in this period. */
export function CrossedThresholds({ thresholds }: { thresholds: readonly Threshold[] }) {
  return (
    <section aria-labelledby="alerts" className={page['card']}>
      <h2 id="alerts">Active alerts</h2>
      {thresholds.length === 0 && (
        <p className={styles['muted']}>
          No threshold of your <Link to="/alerts">alert settings</Link> has been crossed in this billing
          period.
        </p>
      )}
      {thresholds.length > 0 && (
        <ul className={styles['alerts']}>
          {highestOfEach(thresholds).map(({ limit, share_percent, crossed_at }) => (
            <li key={limit}>
              <span>
                {LIMIT_NAMES[limit]}: {formatNumber(share_percent)}% of the limit is used
              </span>
              <span className={styles['muted']}>
                <Moment at={crossed_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function highestOfEach(thresholds: readonly Threshold[]): Threshold[] {
  const highest = new Map<Threshold['limit'], Threshold>();
  for (const threshold of thresholds) {
    const known = highest.get(threshold.limit);
    if (known === undefined || known.share_percent < threshold.share_percent) {
      highest.set(threshold.limit, threshold);
    }
  }
  return [...highest.values()];
}
