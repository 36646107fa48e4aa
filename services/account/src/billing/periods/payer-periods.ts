import type { Query } from '../../platform/database/query.ts';
import { creditPointsColumn } from './credit-points.ts';
import type { LimitedPeriod } from './limits.ts';
import { duePayments } from './payment-blocks.ts';
import type { StatusPeriod } from './period-rules.ts';
import { totalColumns } from './usage-sums.ts';

type PayerPeriod = Required<StatusPeriod> &
  LimitedPeriod & {
    period_id: number;
    plan_name: string;
    product_name: string | null;
    points: number;
    requests: number;
    time_ms: number;
    traffic_bytes: number;
    credit_points: number;
  };

export type PayerPeriods = {
  account_id: number;
  /** The team manager's account for a member, else the account itself. */
  payer_id: number;
  /** By an operator, or because the payer hasn't paid. */
  account_blocked: boolean;
  /** Whether the block is one for which the payer can pay. */
  payment_blocked: boolean;
  /** When a payment that is due changes the status next; null if none does. */
  payment_changes_at: Date | null;
  /** Whether a grant of the payer has points left. */
  has_credits: boolean;
  /** Whether the account or one of its applications has a budget. */
  has_budgets: boolean;
  /** Whether an application of the account is limited to trusted documents. */
  has_document_limits: boolean;
  /** At most two: the one that started last, and the next one. */
  periods: PayerPeriod[];
  now: Date;
};

const payerPeriodsSql = (periods: string) => `
  SELECT moment.now, caller.account_id, payer.account_id AS payer_id,
         (caller.blocked_at IS NOT NULL OR payer.blocked_at IS NOT NULL
           OR coalesce(due.blocked, false)) AS account_blocked,
         (caller.blocked_at IS NULL AND payer.blocked_at IS NULL
           AND coalesce(due.payable, false)) AS payment_blocked,
         due.changes_at AS payment_changes_at, coalesce(due.unpaid, false) AS unpaid,
         period.period_id, period.plan_name, product.name AS product_name, period.description,
         period.grace_sec, period.team_slots_limit, period.started_at, period.ended_at,
         period.blocked_at IS NOT NULL AS blocked, period.followed,
         ${totalColumns('total')}, ${creditPointsColumn('period', 'moment.now')},
         EXISTS (SELECT FROM credit_grants
           WHERE credit_grants.account_id = payer.account_id AND points_remaining > 0) AS has_credits,
         (EXISTS (SELECT FROM member_budgets WHERE member_budgets.account_id = caller.account_id)
           OR EXISTS (SELECT FROM applications JOIN application_budgets USING (application_id)
             WHERE applications.account_id = caller.account_id)) AS has_budgets,
         EXISTS (SELECT FROM applications JOIN document_trust USING (application_id)
           WHERE applications.account_id = caller.account_id AND is_enforced) AS has_document_limits
  FROM accounts AS caller
  CROSS JOIN (SELECT coalesce(:now, date_trunc('milliseconds', now())) AS now) AS moment
  LEFT JOIN team_members AS membership
    ON membership.account_id = caller.account_id AND membership.role = 'member'
  LEFT JOIN team_members AS manager
    ON manager.team_id = membership.team_id AND manager.role = 'manager'
  JOIN accounts AS payer ON payer.account_id = coalesce(manager.account_id, caller.account_id)
  LEFT JOIN LATERAL (${periods}) AS period ON true
  CROSS JOIN LATERAL (${duePayments('payer.account_id', 'moment.now')}) AS due
  LEFT JOIN products AS product USING (product_id)
  LEFT JOIN usage_totals AS total USING (period_id)
  WHERE caller.account_id = :account_id`;

/** Periods of an account don't overlap, so one that covers now is the one that started last. */
const PAYER_PERIODS_SQL = payerPeriodsSql(`
    (SELECT *, false AS followed FROM billing_periods
     WHERE account_id = payer.account_id AND started_at <= moment.now ORDER BY started_at DESC LIMIT 1)
    UNION ALL
    (SELECT *, false AS followed FROM billing_periods
     WHERE account_id = payer.account_id AND started_at > moment.now ORDER BY started_at LIMIT 1)`);

const PAYER_PERIOD_SQL = payerPeriodsSql(`
    SELECT *, EXISTS (SELECT 1 FROM billing_periods AS later WHERE later.account_id = payer.account_id
      AND later.started_at > this.started_at AND later.started_at <= moment.now) AS followed
    FROM billing_periods AS this
    WHERE account_id = payer.account_id AND period_id = :period_id AND started_at <= moment.now`);

type PayerPeriodsRow = Omit<PayerPeriods, 'periods'> & (PayerPeriod | { period_id: null });

/** `now` defaults to Postgres' clock, which all replicas share. Undefined if the account does not exist. */
export async function findPayerPeriods(
  query: Query,
  accountId: number,
  now: Date | null = null,
): Promise<PayerPeriods | undefined> {
  return payerPeriodsOf(
    await query<PayerPeriodsRow>(PAYER_PERIODS_SQL, { account_id: accountId, now }, 'payer-periods'),
  );
}

/** Of the payer's periods, only this one, if it has started. Undefined if the account does not exist. */
export async function findPayerPeriod(
  query: Query,
  accountId: number,
  periodId: number,
): Promise<PayerPeriods | undefined> {
  const values = { account_id: accountId, period_id: periodId, now: null };
  return payerPeriodsOf(await query<PayerPeriodsRow>(PAYER_PERIOD_SQL, values));
}

function payerPeriodsOf(rows: readonly PayerPeriodsRow[]): PayerPeriods | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const { account_id, payer_id, account_blocked, payment_blocked, payment_changes_at, now } = first;
  const { has_credits, has_budgets, has_document_limits } = first;
  const periods = rows.filter((row) => row.period_id !== null);
  const payer = { payer_id, account_blocked, payment_blocked, payment_changes_at };
  return { account_id, ...payer, has_credits, has_budgets, has_document_limits, periods, now };
}
