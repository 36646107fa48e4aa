import type { components } from '../../api/schema.d.ts';
import { formatDay, formatNumber, formatShare } from '../../ui/format.ts';
import styles from '../../ui/page/page.module.css';

type LimitMeterProps = { name: string; unit?: string; limit: components['schemas']['PaceOfLimit'] };

/** What is used of a limit, what remains, and when it runs out if usage goes on as it does. */
export function LimitMeter({ name, unit = name.toLowerCase(), limit }: LimitMeterProps) {
  const { usage, used_share, reached } = limit;
  const remaining = Math.max(limit.limit - usage, 0);
  const used = `${formatNumber(usage)} of ${formatNumber(limit.limit)} ${unit}`;
  return (
    <div>
      <h3>{name}</h3>
      <p>
        {used} ({formatShare(used_share)})
      </p>
      <div
        role="meter"
        aria-label={`${name} used`}
        aria-valuemin={0}
        aria-valuemax={limit.limit}
        aria-valuenow={Math.min(usage, limit.limit)}
        aria-valuetext={used}
        className={styles['meter']}
      >
        <div
          className={`${styles['fill'] ?? ''} ${reached ? (styles['full'] ?? '') : ''}`}
          style={{ width: `${String(Math.min(used_share, 1) * 100)}%` }}
        />
      </div>
      <p className={styles['muted']}>
        {formatNumber(remaining)} left. {forecastOf(limit)}
      </p>
    </div>
  );
}

function forecastOf({ reached, whole_period, last_24_hours }: LimitMeterProps['limit']): string {
  if (reached) return 'The limit is reached: calls are refused until the next period.';
  const dates = [last_24_hours.reached_at, whole_period.reached_at].filter((date) => date !== null);
  const [earliest] = dates.toSorted();
  if (earliest === undefined) return 'At this pace it lasts for the whole period.';
  return `At this pace you run out on ${formatDay(earliest)}.`;
}
