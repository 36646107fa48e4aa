import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { BillingPeriod } from '../../api/usage.ts';
import { Button } from '../../ui/button.tsx';
import { formatInstants, formatExact, formatNumber } from '../../ui/format.ts';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { Table } from '../../ui/list/table.tsx';
import type { Column } from '../../ui/list/table.tsx';
import { daysOfPeriod } from '../../ui/usage/days.ts';
import { MEASURES, MEASURE_TEXT } from '../../ui/usage/measures.ts';
import { Quantity } from '../../ui/usage/quantity.tsx';
import page from '../../ui/page/page.module.css';
import view from './usage.module.css';
import { periodsQuery } from './queries.ts';
import type { UsageSearch } from './search.ts';

const STATES = {
  active: { tone: 'good', label: 'Active' },
  grace: { tone: 'warning', label: 'Grace period' },
  blocked: { tone: 'danger', label: 'Blocked' },
  expired: { tone: 'neutral', label: 'Ended' },
} as const;

/** Of calls that were under way when the points ran out. */
const OVERUSE: Column<BillingPeriod> = {
  label: 'Points beyond the limit',
  align: 'end',
  cell: ({ overuse_points }) => formatNumber(overuse_points),
};

/** The account's own billing periods, each with its range as a view. */
export function BillingPeriods({ nowMs, search }: { nowMs: number; search: UsageSearch }) {
  const { data, isPending, isError, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useInfiniteQuery(periodsQuery);
  const periods = data?.pages.flatMap((each) => each.periods) ?? [];
  const hasOveruse = periods.some(({ overuse_points }) => overuse_points > 0);
  return (
    <section className={`${page['card'] ?? ''} ${view['printless'] ?? ''}`} aria-labelledby="periods">
      <h2 id="periods">Billing periods</h2>
      {isPending && <Skeleton />}
      {data === undefined && isError && (
        <ErrorMessage error={error} what="your billing periods" onRetry={() => void refetch()} />
      )}
      {data !== undefined && periods.length === 0 && (
        <p>You have no billing periods of your own. If you are a team member, your manager has them.</p>
      )}
      {periods.length > 0 && (
        <Table
          label="Billing periods"
          rows={periods}
          keyOf={({ period_id }) => period_id}
          columns={[
            {
              label: 'Period',
              onCard: 'title',
              cell: (period) => <PeriodLink period={period} nowMs={nowMs} search={search} />,
            },
            { label: 'State', onCard: 'status', cell: ({ status }) => <State status={status} /> },
            { label: 'Plan', cell: (period) => <Plan period={period} /> },
            {
              label: 'Point limit',
              align: 'end',
              cell: ({ limits: { points_limit: limit } }) => (limit === null ? 'None' : formatNumber(limit)),
            },
            ...MEASURES.map((measure): Column<BillingPeriod> => ({
              label: MEASURE_TEXT[measure].name,
              align: 'end',
              cell: ({ usage }) => (
                <Quantity value={usage[MEASURE_TEXT[measure].field]} kind={MEASURE_TEXT[measure].kind} />
              ),
            })),
            ...(hasOveruse ? [OVERUSE] : []),
          ]}
        />
      )}
      {hasNextPage && (
        <div>
          <Button isReading isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            Show earlier periods
          </Button>
        </div>
      )}
    </section>
  );
}

function State({ status }: Pick<BillingPeriod, 'status'>) {
  const { tone, label } = STATES[status];
  return <Badge tone={tone}>{label}</Badge>;
}

function Plan({ period: { plan_name, product } }: { period: BillingPeriod }) {
  return (
    <span>
      <bdi>{plan_name}</bdi>
      {product !== null && (
        <>
          , <bdi>{product.name}</bdi>
        </>
      )}
    </span>
  );
}

type PeriodLinkProps = { period: BillingPeriod; nowMs: number; search: UsageSearch };

function PeriodLink({
  period,
  nowMs,
  search: { range: _range, from: _from, to: _to, ...search },
}: PeriodLinkProps) {
  const { period_id, started_at, ended_at } = period;
  const name = formatInstants(started_at, ended_at);
  return (
    <span title={`${formatExact(started_at)} to ${formatExact(ended_at)}`}>
      {daysOfPeriod(period, nowMs) === null ? (
        name
      ) : (
        <Link to="/usage" search={{ ...search, period: period_id }}>
          <bdi>{name}</bdi>
        </Link>
      )}
    </span>
  );
}
