import { SUM_COLUMNS } from '../../billing/periods/usage-sums.ts';
import type { Counters } from '../../billing/periods/usage-sums.ts';
import type { PeriodTimes } from '../../billing/periods/period-rules.ts';
import type { Query } from '../../platform/database/query.ts';
import type { GroupBy } from './input.ts';
import type { Interval, UsageRange } from './series/range.ts';

/** Each statement filters by the first column of an index, and by hours, which excludes partitions. */

export type UsageRow = Counters & {
  bucket: Date;
  group_id: number | string | null;
};

/** `billed`: charged to the account's periods. `own`: used by the account itself. */
export type UsageView = 'billed' | 'own';

export type WantedRows = {
  account_id: number;
  view: UsageView;
  range: UsageRange;
  /** Only usage that is charged to this period. */
  period_id?: number | undefined;
  group_by: GroupBy;
  filter: Readonly<Record<'application_id' | 'account_id' | 'api_version', number | string | undefined>>;
  limit: number;
};

const BUCKETS: Record<Interval, string> = { hour: 'hour', day: "date_trunc('day', hour, 'UTC')" };

const GROUP_IDS: Record<GroupBy, string> = {
  none: 'CAST(NULL AS text)',
  application: 'application_id',
  member: 'account_id',
  api_version: 'api_version',
};

export async function findUsageRows(query: Query, wanted: WantedRows): Promise<UsageRow[]> {
  const { account_id, view, range, period_id, group_by, filter, limit } = wanted;
  const { from, to } = range;
  const isOfPeriods = view === 'billed' || period_id !== undefined;
  const period_ids = isOfPeriods ? await periodIds(query, wanted) : [];
  const filters = Object.entries(filter).filter(([, value]) => value !== undefined);
  const conditions = [
    ...(view === 'own' ? ['account_id = :account_id'] : []),
    ...(isOfPeriods ? ['period_id = ANY (CAST(:period_ids AS bigint[]))'] : []),
    'hour >= :from AND hour < :to',
    ...filters.map(([column]) => `${column} = :only_${column}`),
  ];
  return query<UsageRow>(
    `SELECT ${BUCKETS[range.interval]} AS bucket, ${GROUP_IDS[group_by]} AS group_id, ${SUM_COLUMNS}
     FROM usage_hourly WHERE ${conditions.join(' AND ')} GROUP BY 1, 2 ORDER BY 1, 2 LIMIT :limit`,
    {
      account_id,
      period_ids,
      from,
      to,
      limit,
      ...Object.fromEntries(filters.map(([column, value]) => [`only_${column}`, value])),
    },
  );
}

async function periodIds(query: Query, { account_id, period_id, range }: WantedRows): Promise<number[]> {
  return period_id === undefined ? findPeriodIds(query, account_id, range) : [period_id];
}

/**
 * Periods that can have usage in a range, by grace windows and gateway clocks up to a day off. A query of its own, so
 * that the planner knows the ids.
 */
async function findPeriodIds(query: Query, accountId: number, { from, to }: UsageRange): Promise<number[]> {
  const rows = await query<{ period_id: number }>(
    `SELECT period_id FROM billing_periods
     WHERE account_id = :accountId AND started_at < CAST(:to AS timestamptz) + interval '1 day'
       AND ended_at + grace_sec * interval '1 second' >= CAST(:from AS timestamptz) - interval '1 day'`,
    { accountId, from, to },
  );
  return rows.map(({ period_id }) => period_id);
}

export type UsedPeriod = PeriodTimes & {
  period_id: number;
  account_id: number;
  /** The first and last hour of which usage is kept; null without any. */
  first_hour: Date | null;
  last_hour: Date | null;
};

/** A period that has started, of one of the accounts. */
export async function findUsedPeriod(
  query: Query,
  periodId: number,
  accountIds: readonly number[],
  now: Date,
): Promise<UsedPeriod | undefined> {
  const rows = await query<UsedPeriod>(
    `SELECT period_id, account_id, started_at, ended_at,
            (SELECT min(hour) FROM usage_hourly WHERE period_id = :periodId) AS first_hour,
            (SELECT max(hour) FROM usage_hourly WHERE period_id = :periodId) AS last_hour
     FROM billing_periods
     WHERE period_id = :periodId AND account_id = ANY (CAST(:accountIds AS bigint[])) AND started_at <= :now`,
    { periodId, accountIds, now },
  );
  return rows[0];
}

export async function findUsageSince(query: Query, periodId: number, since: Date): Promise<Counters[]> {
  return query<Counters>(
    `SELECT ${SUM_COLUMNS} FROM usage_hourly WHERE period_id = :periodId AND hour >= :since HAVING count(*) > 0`,
    { periodId, since },
  );
}
