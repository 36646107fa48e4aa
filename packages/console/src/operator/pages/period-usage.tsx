import { useQuery } from '@tanstack/react-query';
import type { LimitField } from '@tollgate/contracts/entitlement';
import { formatShare } from '../../ui/format.ts';
import { Table } from '../../ui/list/table.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import { LIMIT_FIELDS, LIMIT_LABELS, amountText, limitOf, limitText } from './limits.ts';
import { periodsQuery } from './queries.ts';
import type { AccountSummary, Period } from './queries.ts';

/** What the present billing period has used of what it includes. Of a team's member it is the payer's. */
export function PeriodUsage({ account: { payer_id, billing_period } }: { account: AccountSummary }) {
  const periods = useQuery(periodsQuery(payer_id));
  const period = periods.data?.find(({ period_id }) => period_id === billing_period?.period_id);
  return (
    <section className={page['card']} aria-labelledby="period-usage">
      <h2 id="period-usage">Usage of the billing period</h2>
      {periods.isPending && <Skeleton rows={3} />}
      {periods.isError && (
        <ErrorMessage error={periods.error} what="the usage" onRetry={() => void periods.refetch()} />
      )}
      {periods.data !== undefined &&
        (period === undefined ? (
          <p className={page['muted']}>No billing period goes on.</p>
        ) : (
          <Table
            label="Limits"
            rows={LIMIT_FIELDS}
            keyOf={(field) => field}
            columns={[
              { label: 'Limit', onCard: 'title', cell: (field) => LIMIT_LABELS[field] },
              { label: 'Included', align: 'end', cell: (field) => includedText(period, field) },
              { label: 'Used', align: 'end', cell: (field) => usedText(period, field) },
            ]}
          />
        ))}
    </section>
  );
}

/** An add-on replaces the plan's slots. */
function includedText({ description, team_slots_limit }: Period, field: LimitField): string {
  if (field === 'team_slots_limit' && team_slots_limit !== null) return amountText(field, team_slots_limit);
  return limitText(description, field);
}

/** Only what adds up over a period. */
function usedText({ description, usage }: Period, field: LimitField): string {
  const used = {
    points_limit: usage.points,
    time_sec_limit: Math.floor(usage.time_ms / 1_000),
    traffic_bytes_limit: usage.traffic_bytes,
  }[field as string];
  if (used === undefined) return '–';
  const limit = limitOf(description, field);
  const share = limit === null || limit === 0 ? '' : ` (${formatShare(used / limit)})`;
  return `${amountText(field, used)}${share}`;
}
