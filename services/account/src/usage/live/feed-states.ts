import { IS_LIVE } from '../../identity/sessions/session-store.ts';
import type { SessionLifetimes } from '../../identity/sessions/session-store.ts';
import { duePayments } from '../../billing/periods/payment-blocks.ts';
import type { Query } from '../../platform/database/query.ts';

export type FeedState = {
  session_id: number;
  /** Differs whenever what the feed shows has changed. */
  version: string;
};

/**
 * One statement for all feeds of a process. Row versions (`xmin`) stand for everything that can change in a row; the
 * comparisons with `now()` for what time alone changes.
 */
const STATES_SQL = `
  SELECT session_id, concat_ws(' ', payer.account_id, caller.blocked_at, payer.blocked_at, payer.name,
           period.period_id, period.version, period.is_over, period.is_after_grace, total.xmin, credited.xmin,
           due.blocked, due.unpaid,
           (SELECT sum(points_remaining) FROM credit_grants
             WHERE credit_grants.account_id = payer.account_id AND points_remaining > 0),
           (SELECT max(alert_id) FROM usage_alerts WHERE usage_alerts.period_id = period.period_id)) AS version
  FROM sessions JOIN accounts AS caller USING (account_id)
  LEFT JOIN team_members AS membership
    ON membership.account_id = caller.account_id AND membership.role = 'member'
  LEFT JOIN team_members AS manager
    ON manager.team_id = membership.team_id AND manager.role = 'manager'
  JOIN accounts AS payer ON payer.account_id = coalesce(manager.account_id, caller.account_id)
  LEFT JOIN LATERAL (
    SELECT period_id, xmin AS version, now() >= ended_at + interval '1 second' AS is_over,
           now() >= ended_at + (grace_sec + 1) * interval '1 second' AS is_after_grace
    FROM billing_periods WHERE account_id = payer.account_id AND started_at <= now()
    ORDER BY started_at DESC LIMIT 1
  ) AS period ON true
  CROSS JOIN LATERAL (${duePayments('payer.account_id', 'now()')}) AS due
  LEFT JOIN usage_totals AS total ON total.period_id = period.period_id
  LEFT JOIN period_credits AS credited ON credited.period_id = period.period_id
  WHERE session_id = ANY (CAST(:sessionIds AS bigint[])) AND ${IS_LIVE}`;

/** Of the sessions that are still live. Doesn't count as use of a session. */
export function findFeedStates(
  query: Query,
  sessionIds: readonly number[],
  { idleTimeoutSec }: SessionLifetimes,
): Promise<FeedState[]> {
  return query<FeedState>(STATES_SQL, { sessionIds, idleTimeoutSec }, 'live-usage-states');
}
