import type { Query } from '../../platform/database/query.ts';
import type { LimitedPeriod } from './limits.ts';
import type { StatusPeriod } from './period-rules.ts';
import { totalColumns } from './usage-sums.ts';

type PayerPeriod = StatusPeriod &
  LimitedPeriod & {
    period_id: number;
    plan_name: string;
    product_name: string | null;
    points: number;
    requests: number;
    time_ms: number;
    traffic_bytes: number;
  };

export type PayerPeriods = {
  account_id: number;
  /** The team manager's account for a member, else the account itself. */
  payer_id: number;
  account_blocked: boolean;
  /** At most two: the one that started last, and the next one. */
  periods: PayerPeriod[];
  now: Date;
};

/** Periods of an account don't overlap, so one that covers now is the one that started last. */
const PAYER_PERIODS_SQL = `
  SELECT moment.now, caller.account_id, payer.account_id AS payer_id,
         (caller.blocked_at IS NOT NULL OR payer.blocked_at IS NOT NULL) AS account_blocked,
         period.period_id, period.plan_name, product.name AS product_name, period.description,
         period.grace_sec, period.team_slots_limit, period.started_at, period.ended_at,
         period.blocked_at IS NOT NULL AS blocked,
         ${totalColumns('total')}
  FROM accounts AS caller
  CROSS JOIN (SELECT coalesce(:now, date_trunc('milliseconds', now())) AS now) AS moment
  LEFT JOIN team_members AS membership
    ON membership.account_id = caller.account_id AND membership.role = 'member'
  LEFT JOIN team_members AS manager
    ON manager.team_id = membership.team_id AND manager.role = 'manager'
  JOIN accounts AS payer ON payer.account_id = coalesce(manager.account_id, caller.account_id)
  LEFT JOIN LATERAL (
    (SELECT * FROM billing_periods
     WHERE account_id = payer.account_id AND started_at <= moment.now ORDER BY started_at DESC LIMIT 1)
    UNION ALL
    (SELECT * FROM billing_periods
     WHERE account_id = payer.account_id AND started_at > moment.now ORDER BY started_at LIMIT 1)
  ) AS period ON true
  LEFT JOIN products AS product USING (product_id)
  LEFT JOIN usage_totals AS total USING (period_id)
  WHERE caller.account_id = :account_id`;

type PayerPeriodsRow = Omit<PayerPeriods, 'periods'> & (PayerPeriod | { period_id: null });

/** `now` defaults to Postgres' clock, which all replicas share. Undefined if the account does not exist. */
export async function findPayerPeriods(
  query: Query,
  accountId: number,
  now: Date | null = null,
): Promise<PayerPeriods | undefined> {
  const rows = await query<PayerPeriodsRow>(
    PAYER_PERIODS_SQL,
    { account_id: accountId, now },
    'payer-periods',
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const { account_id, payer_id, account_blocked } = first;
  const periods = rows.filter((row) => row.period_id !== null);
  return { account_id, payer_id, account_blocked, periods, now: first.now };
}
