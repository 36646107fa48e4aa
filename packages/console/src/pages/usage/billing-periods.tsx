import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { BillingPeriod } from '../../api/usage.ts';
import { Button } from '../../ui/button.tsx';
import { formatDays, formatExact, formatNumber } from '../../ui/format.ts';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { daysOfPeriod } from '../../ui/usage/days.ts';
import { MEASURES, MEASURE_TEXT } from '../../ui/usage/measures.ts';
import page from '../../ui/page/page.module.css';
import styles from '../../ui/usage/usage.module.css';
import view from './usage.module.css';
import { periodsQuery } from './queries.ts';
import type { UsageSearch } from './search.ts';

const STATES = {
  active: { tone: 'good', label: 'Active' },
  grace: { tone: 'warning', label: 'Grace period' },
  blocked: { tone: 'danger', label: 'Blocked' },
  expired: { tone: 'neutral', label: 'Ended' },
} as const;

/** The account's own billing periods, each with its range as a view. */
export function BillingPeriods({ nowMs, search }: { nowMs: number; search: UsageSearch }) {
  const { data, isPending, isError, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useInfiniteQuery(periodsQuery);
  const periods = data?.pages.flatMap((each) => each.periods) ?? [];
  return (
    <section className={`${page['card'] ?? ''} ${view['printless'] ?? ''}`} aria-labelledby="periods">
      <h2 id="periods">Billing periods</h2>
      {isPending && <Skeleton />}
      {data === undefined && isError && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {data !== undefined && periods.length === 0 && (
        <p>You have no billing periods of your own. If you are a team member, your manager has them.</p>
      )}
      {periods.length > 0 && (
        <div className={styles['scroll']} tabIndex={0} role="region" aria-label="List of billing periods">
          <table className={styles['table']}>
            <thead>
              <tr>
                <th scope="col">Period (UTC)</th>
                <th scope="col">Plan</th>
                <th scope="col">State</th>
                <th scope="col" className={styles['figure']}>
                  Point limit
                </th>
                {MEASURES.map((each) => (
                  <th key={each} scope="col" className={styles['figure']}>
                    {MEASURE_TEXT[each].column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {periods.map((period) => (
                <PeriodRow key={period.period_id} period={period} nowMs={nowMs} search={search} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hasNextPage && (
        <div>
          <Button isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            Show earlier periods
          </Button>
        </div>
      )}
    </section>
  );
}

type PeriodRowProps = { period: BillingPeriod; nowMs: number; search: UsageSearch };

function PeriodRow({ period, nowMs, search: { range: _range, ...search } }: PeriodRowProps) {
  const { started_at, ended_at, plan_name, product, status, limits, usage } = period;
  const days = daysOfPeriod(period, nowMs);
  const { tone, label } = STATES[status];
  const name = formatDays(started_at, ended_at);
  const limit = limits['points_limit'] ?? null;
  return (
    <tr>
      <th scope="row" title={`${formatExact(started_at)} to ${formatExact(ended_at)}`}>
        {days === null ? (
          name
        ) : (
          <Link to="/usage" search={{ ...search, ...days }}>
            <bdi>{name}</bdi>
          </Link>
        )}
      </th>
      <td>
        <bdi>{plan_name}</bdi>
        {product !== null && (
          <>
            , <bdi>{product.name}</bdi>
          </>
        )}
      </td>
      <td>
        <Badge tone={tone}>{label}</Badge>
      </td>
      <td className={styles['figure']}>{limit === null ? 'None' : formatNumber(limit)}</td>
      {MEASURES.map((each) => (
        <td key={each} className={styles['figure']}>
          {formatNumber(usage[MEASURE_TEXT[each].field])}
        </td>
      ))}
    </tr>
  );
}
