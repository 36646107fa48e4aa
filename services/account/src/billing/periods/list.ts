import { duePayments } from './payment-blocks.ts';
import { billingStatus } from './period-rules.ts';
import type { Period } from './period-store.ts';
import { totalColumns } from './usage-sums.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Page } from '../../http/input/page.ts';

type Counted = { points: number; requests: number; time_ms: number; traffic_bytes: number };

type ListedPeriod = Period & {
  account_blocked: boolean;
  unpaid: boolean;
  followed: boolean;
  overuse_points: number;
} & Counted;

const LISTED_SQL = `
  SELECT period.period_id, period.account_id, period.plan_id, period.plan_name, period.product_id,
         period.subscription_id, period.description, period.grace_sec, period.team_slots_limit,
         period.started_at, period.ended_at, period.blocked_at, period.created_at,
         (account.blocked_at IS NOT NULL OR coalesce(due.blocked, false)) AS account_blocked,
         coalesce(due.unpaid, false) AS unpaid,
         EXISTS (SELECT 1 FROM billing_periods AS later WHERE later.account_id = period.account_id
           AND later.started_at > period.started_at AND later.started_at <= :now) AS followed,
         ${totalColumns('total')}, coalesce(credited.overuse_points, 0) AS overuse_points
  FROM billing_periods AS period
  JOIN accounts AS account USING (account_id)
  LEFT JOIN period_credits AS credited USING (period_id)
  CROSS JOIN LATERAL (${duePayments('period.account_id', 'CAST(:now AS timestamptz)')}) AS due
  LEFT JOIN usage_totals AS total USING (period_id)`;

export function listPeriods(
  query: Query,
  {
    account_id,
    plan_id,
    blocked,
  }: { account_id?: number | undefined; plan_id?: number | undefined; blocked?: boolean | undefined },
  { limit, before }: Page,
  now: Date,
): Promise<ListedPeriod[]> {
  const wanted = [
    ...(account_id === undefined ? [] : ['period.account_id = :account_id']),
    ...(plan_id === undefined ? [] : ['period.plan_id = :plan_id']),
    ...(blocked === undefined ? [] : [`period.blocked_at IS ${blocked ? 'NOT ' : ''}NULL`]),
  ];
  return query<ListedPeriod>(
    `${LISTED_SQL} WHERE ${['period.period_id < :before', ...wanted].join(' AND ')}
     ORDER BY period.period_id DESC LIMIT :limit`,
    { account_id: account_id ?? null, plan_id: plan_id ?? null, limit, before, now },
  );
}

export async function findPeriod(
  query: Query,
  periodId: number,
  now: Date,
): Promise<ListedPeriod | undefined> {
  const sql = `${LISTED_SQL} WHERE period.period_id = :periodId`;
  const rows = await query<ListedPeriod>(sql, { periodId, now });
  return rows[0];
}

/** The status is null before the period starts, unless it is blocked. */
export function periodAnswer(listed: ListedPeriod, now: Date) {
  const { account_blocked, unpaid, followed, blocked_at, ...rest } = listed;
  const { points, requests, time_ms, traffic_bytes, ...period } = rest;
  const times = { ...period, blocked: blocked_at !== null, unpaid, followed };
  const status = billingStatus(times, account_blocked, now);
  return {
    ...period,
    blocked_at,
    status: period.started_at > now && status !== 'blocked' ? null : status,
    usage: { points, requests, time_ms, traffic_bytes },
  };
}
