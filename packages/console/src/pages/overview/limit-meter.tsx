import type { ReactNode } from 'react';
import { formatNumber, formatShare } from '../../ui/format.ts';
import { Quantity, formatQuantity } from '../../ui/usage/quantity.tsx';
import type { QuantityKind } from '../../ui/usage/quantity.tsx';
import page from '../../ui/page/page.module.css';
import styles from './overview.module.css';

type LimitMeterProps = {
  name: string;
  /** What is counted: "points"; empty where the figures have their units. */
  noun?: string;
  kind?: QuantityKind;
  usage: number;
  limit: number;
  /** Rounded down, so that 1 or more means all of it. */
  usedShare: number;
  /** The share of the period that has passed, marked on the meter. */
  elapsedShare?: number;
  children?: ReactNode;
};

/** One limit: what is used, what remains, and how that compares with the time that has passed. */
export function LimitMeter(props: LimitMeterProps) {
  const { name, noun = '', kind = 'count', usage, limit, usedShare, elapsedShare, children } = props;
  const remaining = Math.max(limit - usage, 0);
  const isReached = usedShare >= 1;
  const spoken = `${formatQuantity(usage, kind)} of ${formatQuantity(limit, kind)} ${noun}`.trimEnd();
  return (
    <div className={styles['limit']}>
      <h3 className={styles['name']}>{name}</h3>
      <p>
        <span className={styles['used']}>
          <Quantity value={usage} kind={kind} />
        </span>{' '}
        <span className={styles['muted']}>
          of <Quantity value={limit} kind={kind} /> {noun}
        </span>
      </p>
      <div
        role="meter"
        aria-label={`${name} used`}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(usage, limit)}
        aria-valuetext={`${spoken}, ${formatShare(usedShare)}`}
        className={`${page['bar'] ?? ''} ${styles['meter'] ?? ''}`}
      >
        <div
          className={page['fill']}
          data-reached={isReached}
          style={{ width: `${String(Math.min(usedShare, 1) * 100)}%` }}
        />
        {elapsedShare !== undefined && (
          <div
            className={styles['mark']}
            title={`${formatShare(elapsedShare)} of the billing period has passed`}
            style={{ insetInlineStart: `${String(elapsedShare * 100)}%` }}
          />
        )}
      </div>
      <p className={styles['muted']}>
        <Quantity value={remaining} kind={kind} /> left · {formatShare(usedShare)} used
      </p>
      {children}
    </div>
  );
}

/** A limit of one moment, of which there is no usage to show. */
export function MomentaryLimit({ limit, per }: { limit: number; per: string }) {
  return (
    <li>
      <strong>{formatNumber(limit)}</strong> {per}
    </li>
  );
}
