import { Suspense } from 'react';
import { SelectField } from '../../ui/form/select-field.tsx';
import { formatInstants } from '../../ui/format.ts';
import { dayOf, earliestDay } from '../../ui/usage/days.ts';
import { mayBeHourly } from './range.ts';
import type { Period, Span } from './range.ts';
import { RANGES } from './search.ts';
import type { Group, RangeName, UsageSearch } from './search.ts';
import { ZoneField } from '../../ui/form/zone-field.tsx';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import styles from './usage.module.css';

const DateRangeField = lazyPart(
  async () => (await import('../../ui/form/date-range-field.tsx')).DateRangeField,
);

const RANGE_NAMES: Record<RangeName, string> = {
  period: 'This billing period',
  previous: 'Previous billing period',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  '12m': 'Last 12 months',
};

const CUSTOM = 'custom';
const ONE_PERIOD = 'one-period';
const ALL = 'all';

const GROUP_NAMES: Record<Group, string> = {
  none: 'None',
  application: 'Application',
  member: 'Member',
  api_version: 'API version',
};

export type ControlsProps = {
  search: UsageSearch;
  span: Span;
  nowMs: number;
  /** The one that calls are charged to first; undefined while they load. */
  periods: readonly Period[] | undefined;
  /** Whether the usage is there: the field for days is the largest part of the page, and loads after it. */
  isShown: boolean;
  maySeeMembers: boolean;
  /** Those with usage in the range. */
  applications: readonly { id: number | string; name: string }[];
  onChange: (change: (search: UsageSearch) => Record<string, unknown>) => void;
};

/** What is shown: range, interval, grouping and application. Each change is a step of the browser's history. */
export function Controls(props: ControlsProps) {
  const { search, span, nowMs, periods, isShown, maySeeMembers, applications, onChange } = props;
  const { days, period } = span;
  const isOnePeriod = search.period !== undefined && period !== null;
  const further = isOnePeriod
    ? [{ value: ONE_PERIOD, label: formatInstants(period.started_at, period.ended_at) }]
    : search.from === undefined
      ? []
      : [{ value: CUSTOM, label: 'Custom' }];
  // Without such a period, a preset would lead to the default.
  const count = periods?.length ?? 2;
  const ranges = RANGES.filter(
    (name) => (name !== 'period' || count > 0) && (name !== 'previous' || count > 1),
  );
  const isHourly = search.by === 'hour' && mayBeHourly(span);
  return (
    <div className={styles['controls']} role="group" aria-label="View">
      <SelectField
        label="Range"
        name="range"
        value={further[0]?.value ?? search.range ?? '30d'}
        options={[...ranges.map((name) => ({ value: name, label: RANGE_NAMES[name] })), ...further]}
        onChange={(range) => {
          if (range === further[0]?.value) return;
          onChange(({ from: _from, to: _to, period: _period, ...rest }) => ({ ...rest, range }));
        }}
      />
      <Suspense fallback={<div className={styles['dates']} />}>
        <div className={styles['dates']}>
          {isShown && (
            <DateRangeField
              label="Days (UTC)"
              value={days}
              min={earliestDay(nowMs)}
              max={dayOf(nowMs)}
              onChange={(chosen) => {
                onChange(({ range: _range, period: _period, ...rest }) => ({ ...rest, ...chosen }));
              }}
            />
          )}
        </div>
      </Suspense>
      <SelectField
        label="By"
        name="by"
        value={isHourly ? 'hour' : 'day'}
        options={[
          { value: 'day', label: 'Day' },
          ...(mayBeHourly(span) ? [{ value: 'hour', label: 'Hour' }] : []),
        ]}
        onChange={(by) => {
          onChange((before) => ({ ...before, by }));
        }}
      />
      <SelectField
        label="Group by"
        name="group"
        value={search.group ?? 'none'}
        options={(['none', 'application', 'member', 'api_version'] as const)
          .filter((group) => group !== 'member' || maySeeMembers)
          .map((group) => ({ value: group, label: GROUP_NAMES[group] }))}
        onChange={(group) => {
          onChange((before) => ({ ...before, group }));
        }}
      />
      <ApplicationFilter search={search} applications={applications} onChange={onChange} />
      <ZoneField />
    </div>
  );
}

/** An application in the address without usage in the range is an option, too. */
function applicationOptions(applications: ControlsProps['applications'], chosen: number | undefined) {
  const used = applications.map(({ id, name }) => ({ value: String(id), label: name }));
  const isThere = chosen === undefined || used.some(({ value }) => value === String(chosen));
  const further = isThere ? [] : [{ value: String(chosen), label: `Application ${String(chosen)}` }];
  return [{ value: ALL, label: 'All applications' }, ...used, ...further];
}

function ApplicationFilter({
  search,
  applications,
  onChange,
}: Pick<ControlsProps, 'search' | 'applications' | 'onChange'>) {
  return (
    <SelectField
      label="Application"
      name="application"
      value={search.application === undefined ? ALL : String(search.application)}
      options={applicationOptions(applications, search.application)}
      onChange={(chosen) => {
        onChange(({ application: _application, ...rest }) =>
          chosen === ALL ? rest : { ...rest, application: Number(chosen) },
        );
      }}
    />
  );
}
