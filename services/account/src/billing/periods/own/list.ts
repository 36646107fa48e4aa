import { creditPointsColumn } from '../credit-points.ts';
import { enforcedLimits } from '../limits.ts';
import type { LimitedPeriod } from '../limits.ts';
import { duePayments } from '../payment-blocks.ts';
import { billingStatus } from '../period-rules.ts';
import type { StatusPeriod } from '../period-rules.ts';
import { sumUsage, totalColumns } from '../usage-sums.ts';
import type { Counters } from '../usage-sums.ts';
import type { Page } from '../../../http/input/page.ts';
import type { Query } from '../../../platform/database/query.ts';
import { isoSeconds } from '../../../http/iso-seconds.ts';

type OwnPeriod = Required<StatusPeriod> &
  Required<LimitedPeriod> &
  Counters & {
    period_id: number;
    plan_name: string;
    product_name: string | null;
    account_blocked: boolean;
    overuse_points: number;
  };

/**
 * Those that have started, last one first. Ids don't give that order, as an operator can add an earlier period later;
 * the second in which a period starts does, and no two periods of an account share it.
 */
export function listOwnPeriods(
  query: Query,
  accountId: number,
  { limit, before }: Page,
  now: Date,
): Promise<OwnPeriod[]> {
  return query<OwnPeriod>(
    `SELECT period.period_id, period.plan_name, product.name AS product_name, period.description, period.grace_sec,
            period.team_slots_limit, period.started_at, period.ended_at, period.blocked_at IS NOT NULL AS blocked,
            (account.blocked_at IS NOT NULL OR coalesce(due.blocked, false)) AS account_blocked,
            coalesce(due.unpaid, false) AS unpaid,
            EXISTS (SELECT 1 FROM billing_periods AS later WHERE later.account_id = period.account_id
              AND later.started_at > period.started_at AND later.started_at <= :now) AS followed,
            ${totalColumns('total')}, coalesce(credited.overuse_points, 0) AS overuse_points,
            ${creditPointsColumn('period', 'CAST(:now AS timestamptz)')}
     FROM billing_periods AS period
     JOIN accounts AS account USING (account_id)
     CROSS JOIN LATERAL (${duePayments('period.account_id', 'CAST(:now AS timestamptz)')}) AS due
     LEFT JOIN products AS product USING (product_id)
     LEFT JOIN usage_totals AS total USING (period_id)
     LEFT JOIN period_credits AS credited USING (period_id)
     WHERE period.account_id = :accountId AND period.started_at <= :now
       AND extract(epoch FROM period.started_at) < :before
     ORDER BY period.started_at DESC LIMIT :limit`,
    { accountId, now, limit, before },
  );
}

export function startSecond({ started_at }: Pick<OwnPeriod, 'started_at'>): number {
  return started_at.getTime() / 1_000;
}

export function ownPeriodAnswer(period: OwnPeriod, now: Date) {
  const { period_id, plan_name, product_name, started_at, ended_at, account_blocked, followed } = period;
  return {
    period_id,
    plan_name,
    product: product_name === null ? null : { name: product_name },
    started_at: isoSeconds(started_at),
    ended_at: isoSeconds(ended_at),
    // A block of the account stops calls now; it says nothing about a period that another one followed.
    status: billingStatus(period, account_blocked && !followed, now),
    limits: enforcedLimits(period),
    usage: sumUsage([period]),
    overuse_points: period.overuse_points,
  };
}
