import { enforcedLimits } from '../../billing/periods/limits.ts';
import type { LimitedPeriod } from '../../billing/periods/limits.ts';
import type { Query } from '../../platform/database/query.ts';
import { ALERT_LIMITS } from './rules.ts';
import type { AlertLimit } from './rules.ts';

/** A test has no limit and no threshold. */
export type RecentAlert = {
  is_test: boolean;
  limit: AlertLimit | 'application_budget' | 'member_budget' | null;
  budget: {
    name: string;
    account_id: number;
    application_id: number | null;
    window: 'period' | 'day';
  } | null;
  share_percent: number | null;
  created_at: Date;
};

const SHOWN_MAX = 10;

/** Newest first. A test leaves no row of its own; the audit log has when it was sent. */
export function findRecentAlerts(query: Query, accountId: number): Promise<RecentAlert[]> {
  return query<RecentAlert>(
    `(SELECT false AS is_test, limit_name AS limit, CAST(NULL AS json) AS budget, share AS share_percent,
             usage_alerts.created_at
      FROM billing_periods JOIN usage_alerts USING (period_id)
      WHERE billing_periods.account_id = :accountId ORDER BY alert_id DESC LIMIT :max)
     UNION ALL
     (SELECT false, CASE WHEN application_id IS NULL THEN 'member_budget' ELSE 'application_budget' END,
             json_build_object('name', coalesce(applications.name, accounts.name), 'account_id', accounts.account_id,
               'application_id', application_id, 'window', CASE WHEN day IS NULL THEN 'period' ELSE 'day' END),
             share, budget_alerts.created_at
      FROM budget_alerts LEFT JOIN applications USING (application_id)
        JOIN accounts ON accounts.account_id = coalesce(budget_alerts.member_id, applications.account_id)
      WHERE budget_alerts.account_id = :accountId ORDER BY budget_alert_id DESC LIMIT :max)
     UNION ALL
     (SELECT true, NULL, NULL, NULL, at FROM audit_log
      WHERE account_id = :accountId AND action = 'alert_tested' ORDER BY audit_id DESC LIMIT :max)
     ORDER BY created_at DESC, share_percent DESC LIMIT :max`,
    { accountId, max: SHOWN_MAX },
  );
}

/** The limits of the account's own current period that can be passed; none without one. */
export async function findAlertLimits(query: Query, accountId: number): Promise<AlertLimit[]> {
  const [period] = await query<LimitedPeriod>(
    `SELECT description, team_slots_limit FROM billing_periods
     WHERE account_id = :accountId AND started_at <= clock_timestamp()
       AND ended_at + interval '1 second' > clock_timestamp()`,
    { accountId },
  );
  if (period === undefined) return [];
  const limits = enforcedLimits(period);
  return ALERT_LIMITS.filter((limit) => limits[limit] !== null && limits[limit] !== 0);
}
