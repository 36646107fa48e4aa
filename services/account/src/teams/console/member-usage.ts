import { pickPeriod } from '../../billing/periods/period-rules.ts';
import type { PayerPeriods } from '../../billing/periods/payer-periods.ts';
import { SUM_COLUMNS } from '../../billing/periods/usage-sums.ts';
import type { Counters } from '../../billing/periods/usage-sums.ts';
import type { Query } from '../../platform/database/query.ts';

/** The lower bound skips older partitions; it is a day early because gateways' clocks may be behind. */
export async function findMemberUsage(
  query: Query,
  { periods }: Pick<PayerPeriods, 'periods'>,
  now: Date,
): Promise<(Counters & { account_id: number })[] | undefined> {
  const period = pickPeriod(periods, now);
  if (period === undefined) return undefined;
  return query(
    `SELECT account_id, ${SUM_COLUMNS}
     FROM usage_hourly
     WHERE period_id = :period_id AND hour >= CAST(:started_at AS timestamptz) - interval '1 day'
     GROUP BY account_id`,
    { period_id: period.period_id, started_at: period.started_at },
  );
}
