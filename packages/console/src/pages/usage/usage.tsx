import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { serverNowMs } from '../../api/server-clock.ts';
import { fetchUsageCsv, payerPeriodQuery, usageQuery } from '../../api/usage.ts';
import type { Usage, UsageRequest } from '../../api/usage.ts';
import { DownloadButton } from '../../ui/page/download-button.tsx';
import { formatExact, formatInstants } from '../../ui/format.ts';
import { PageHeader } from '../../ui/page/page-header.tsx';
import page from '../../ui/page/page.module.css';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { groupsOf } from '../../ui/usage/groups.ts';
import { rangeName } from '../../ui/usage/bucket-time.ts';
import { dayOf, earliestDay } from '../../ui/usage/days.ts';
import type { Measure } from '../../ui/usage/measures.ts';
import { preloadChart } from '../../ui/usage/preload-chart.ts';
import { UsageChart } from '../../ui/usage/usage-chart.tsx';
import { UsageTable } from '../../ui/usage/usage-table.tsx';
import { useZone } from '../../ui/form/zone-field.tsx';
import { BillingPeriods } from './billing-periods.tsx';
import { Controls } from './controls.tsx';
import type { ControlsProps } from './controls.tsx';
import { GroupsTable } from './groups-table.tsx';
import { periodsQuery } from './queries.ts';
import { mayBeHourly, spanOf } from './range.ts';
import type { Period, Span } from './range.ts';
import { usageSearch } from './search.ts';
import type { UsageSearch } from './search.ts';
import { Totals } from './totals.tsx';
import { useUsageBefore } from './use-usage-before.ts';
import styles from './usage.module.css';

/** `/user/usage`: usage of any range as chart, table and CSV. The view's state is its address. */
export function UsagePage() {
  // The router keeps what the validation of an address leaves out.
  const search = usageSearch(useSearch({ from: '/signed-in/usage' }));
  const navigate = useNavigate();
  // A view that stays open keeps its days until the page is visited again.
  const [nowMs] = useState(serverNowMs);
  const periods = usePeriods();
  useZone();
  const span = spanOf(search, { nowMs, periods });
  return (
    <>
      <PageHeader title="Usage">
        {span !== null && <DownloadButton load={() => fetchUsageCsv(requestFor(search, span, nowMs))} />}
      </PageHeader>
      {span === null ? (
        <Loading />
      ) : (
        <View
          search={search}
          span={span}
          nowMs={nowMs}
          periods={periods}
          onChange={(changed) => {
            void navigate({ to: '/usage', search: usageSearch(changed(search)) });
          }}
        />
      )}
      <BillingPeriods nowMs={nowMs} search={search} />
    </>
  );
}

/** The billing period that calls are charged to, and the account's own ones before it; undefined while they load. */
function usePeriods() {
  const current = useQuery(payerPeriodQuery);
  const own = useInfiniteQuery(periodsQuery);
  if (current.isPending || own.isPending) return undefined;
  const { data: period = null } = current;
  if (period === null) return [];
  const earlier = own.data?.pages.flatMap(({ periods }) => periods) ?? [];
  return [period, ...earlier.filter(({ ended_at }) => ended_at < period.started_at)];
}

function requestFor({ by, group, application }: UsageSearch, span: Span, nowMs: number): UsageRequest {
  const { days, period } = span;
  return {
    interval: by === 'hour' && mayBeHourly(span) ? 'hour' : 'day',
    group_by: group ?? 'none',
    ...onlyOf(application),
    ...(period === null
      ? { from: days.from, ...(days.to < dayOf(nowMs) ? { to: days.to } : {}) }
      : { period_id: period.period_id }),
  };
}

const onlyOf = (application: number | undefined) =>
  application === undefined ? {} : { application_id: application };

type ViewProps = Omit<ControlsProps, 'isShown' | 'maySeeMembers' | 'applications'>;

function View({ search, span, nowMs, periods, onChange }: ViewProps) {
  const {
    data: usage,
    error,
    isError,
    isPlaceholderData,
    refetch,
  } = useQuery({
    ...usageQuery(requestFor(search, span, nowMs)),
    placeholderData: keepPreviousData,
  });
  const isShown = usage !== undefined || isError;
  const applications = useApplications(span, nowMs, isShown);
  const maySeeMembers = usage === undefined || usage.view === 'billed';
  // Members see only themselves, so that grouping by member says nothing (docs/design/counting.md).
  const isWithoutMembers = search.group === 'member' && !maySeeMembers;
  useEffect(preloadChart, []);
  useEffect(() => {
    if (isWithoutMembers) onChange(({ group: _group, ...rest }) => rest);
  });
  return (
    <>
      <Controls
        search={search}
        span={span}
        nowMs={nowMs}
        periods={periods}
        isShown={isShown}
        maySeeMembers={maySeeMembers}
        applications={applications}
        onChange={onChange}
      />
      {isError && <RangeError error={error} onRetry={() => void refetch()} />}
      {usage === undefined && !isError && <Loading />}
      {usage !== undefined && (
        <Figures
          usage={usage}
          periods={periods}
          isBusy={isPlaceholderData}
          earliest={earliestDay(nowMs)}
          application={search.application}
          measure={search.measure ?? 'points'}
          onMeasure={(measure) => {
            onChange((before) => ({ ...before, measure }));
          }}
        />
      )}
    </>
  );
}

/** Applications with usage in the range, by name. They load after the usage, which needs none of them. */
function useApplications(
  span: Span,
  nowMs: number,
  enabled: boolean,
): readonly { id: number | string; name: string }[] {
  const { data } = useQuery({
    ...usageQuery(requestFor({ group: 'application' }, span, nowMs)),
    enabled,
    placeholderData: keepPreviousData,
  });
  if (data === undefined) return [];
  return groupsOf(data)
    .filter(({ id }) => id !== 0)
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

function Loading() {
  return (
    <div className={styles['loading']}>
      <Skeleton rows={8} />
    </div>
  );
}

/** A range with too much to show is told with the way out of it. */
function RangeError({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const faults = error instanceof ApiError ? (error.problem?.errors ?? []) : [];
  return (
    <div className={page['card']}>
      <ErrorMessage error={error} what="your usage" onRetry={onRetry} />
      {faults.map(({ field, message }) => (
        <p key={`${field} ${message}`}>
          The API refused <code>{field}</code>: it {message}.
        </p>
      ))}
    </div>
  );
}

type FiguresProps = {
  usage: Usage;
  periods: readonly Period[] | undefined;
  /** Whether other figures are on their way. */
  isBusy: boolean;
  /** The only one that is shown. */
  application: number | undefined;
  /** The first day of which usage is kept. */
  earliest: string;
  measure: Measure;
  onMeasure: (measure: Measure) => void;
};

function Figures({ usage, periods, isBusy, application, earliest, measure, onMeasure }: FiguresProps) {
  const before = useUsageBefore({ usage, periods, application, earliest, isEnabled: !isBusy });
  const name = capitalized(before.name);
  const compared = before.usage === null ? null : { usage: before.usage, name };
  return (
    <div className={styles['figures']} aria-busy={isBusy}>
      <Description usage={usage} />
      {before.state === 'not kept' && (
        <p className={page['muted']}>No comparison: usage is kept for 14 months.</p>
      )}
      <Totals usage={usage} before={before} measure={measure} onChange={onMeasure} />
      {usage.usage.requests_usage === 0 && usage.usage.points_usage === 0 && (
        <Empty title="No usage in this range">
          <p>
            Choose another range, or <Link to="/api_v2/applications">create an application</Link> and call the
            API.
          </p>
        </Empty>
      )}
      <section className={page['card']} aria-label="Chart">
        <UsageChart
          usage={usage}
          measure={measure}
          before={before.state === 'loading' ? { usage: null, name } : compared}
        />
      </section>
      {usage.group_by !== 'none' && <GroupsTable usage={usage} measure={measure} />}
      <section className={styles['section']} aria-labelledby="by-time">
        <h2 id="by-time">{usage.interval === 'day' ? 'By day' : 'By hour'}</h2>
        <UsageTable usage={usage} measure={measure} before={compared} />
      </section>
    </div>
  );
}

/** What the figures below cover. Those of a billing period are exactly what it was charged. */
function Description({ usage }: { usage: Usage }) {
  const { billing_period, view, from } = usage;
  const whose =
    view === 'billed'
      ? 'All usage charged to your billing periods, that of team members included.'
      : 'Your own usage, which your team’s manager pays for.';
  if (billing_period === null) return <p role="status">{`${rangeName(usage)} (UTC). ${whose}`}</p>;
  const { started_at, ended_at } = billing_period;
  const isCut = Date.parse(from) > Date.parse(started_at);
  return (
    <div role="status">
      <p>
        <strong title={`${formatExact(started_at)} to ${formatExact(ended_at)}`}>
          {formatInstants(started_at, ended_at)}
        </strong>
        .{' '}
        {view === 'billed'
          ? 'All usage charged to this billing period, that of team members included.'
          : whose}
      </p>
      <p className={page['muted']}>
        The first and last {usage.interval} show only what was charged to this period.
        {isCut && ' Usage is kept for 14 months, so earlier days are missing.'}
      </p>
    </div>
  );
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
