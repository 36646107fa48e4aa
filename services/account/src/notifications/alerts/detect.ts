import { creditPointsColumn } from '../../billing/periods/credit-points.ts';
import { enforcedLimits } from '../../billing/periods/limits.ts';
import { totalColumns } from '../../billing/periods/usage-sums.ts';
import type { Query } from '../../platform/database/query.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { detectBudgetAlerts } from '../budgets/detect.ts';
import { detectLowCredits } from '../credits/level.ts';
import { enqueueDeliveries } from '../deliveries/stores/delivery-store.ts';
import type { Alert, CheckedPeriod } from './alert.ts';
import type { AlertMail } from './alert-mail.ts';
import { alertEvent } from './event.ts';
import { highestOfEach, passedShares } from './rules.ts';
import type { AlertLimit, AlertSettings, Passed, Use } from './rules.ts';
import { findAlertAddress, findAlertSettings } from './settings-store.ts';

/**
 * Locks the account before its period, as everything that locks both does. Totals are read in a later
 * statement than the check, so that the usage that requested it is visible.
 */
const PERIOD_SQL = `
  SELECT period_id, account_id, plan_name, description, team_slots_limit, started_at, ended_at,
         CASE WHEN email_verified_at IS NOT NULL THEN email END AS email,
         ${totalColumns('usage_totals')}, ${creditPointsColumn('billing_periods', 'clock_timestamp()')},
         coalesce((
           SELECT (SELECT count(*) FROM team_members AS member WHERE member.team_id = manager.team_id)
             + (SELECT count(*) FROM team_invitations AS invited
                WHERE invited.team_id = manager.team_id AND invited.expires_at > now())
           FROM team_members AS manager
           WHERE manager.account_id = accounts.account_id AND manager.role = 'manager'
             AND clock_timestamp() >= started_at AND clock_timestamp() < ended_at + interval '1 second'
         ), 0) AS slots_taken
  FROM accounts JOIN billing_periods USING (account_id) LEFT JOIN usage_totals USING (period_id)
  WHERE period_id = :periodId
  FOR KEY SHARE OF accounts`;

/** What a check has found. */
export type Detected = { alerts: Alert[]; budgetAlerts: number; areCreditsLow: boolean };

export async function detect(query: Query, periodId: number): Promise<Detected> {
  const [period] = await query<CheckedPeriod>(PERIOD_SQL, { periodId });
  // A period can be withdrawn before it begins.
  if (period === undefined) return { alerts: [], budgetAlerts: 0, areCreditsLow: false };
  const settings = await findAlertSettings(query, period.account_id);
  const alerts = await detectAlerts(query, period, settings);
  const budgetAlerts = await detectBudgetAlerts(query, period, findBudgetRecipient);
  const email = settings.mail ? period.email : null;
  return { alerts, budgetAlerts, areCreditsLow: await detectLowCredits(query, period.account_id, email) };
}

/** Budgets have the default thresholds of the account that is told. */
async function findBudgetRecipient(query: Query, accountId: number) {
  const { shares } = await findAlertSettings(query, accountId);
  return { shares, email: await findAlertAddress(query, accountId) };
}

/** Of concurrent transactions, the unique key lets one write an alert. */
async function detectAlerts(query: Query, period: CheckedPeriod, settings: AlertSettings): Promise<Alert[]> {
  const { period_id: periodId, account_id } = period;
  const uses = usesOf(period);
  await rearmAlerts(query, periodId, uses);
  const passed = passedShares(uses, settings);
  if (passed.length === 0) return [];
  const alerts = await insertAlerts(query, period, uses, passed);
  if (alerts.length === 0) return [];
  await enqueueDeliveries(
    query,
    account_id,
    alerts.map((alert) => alertEvent(period, alert)),
  );
  if (settings.mail && period.email !== null) {
    for (const { alert_id } of highestOfEach(alerts)) {
      const mail: AlertMail = { kind: 'usage_alert', recipient: period.email, account_id, alert_id };
      await enqueueMail(query, mail);
    }
  }
  return alerts;
}

function usesOf(period: CheckedPeriod): Use[] {
  const limits = enforcedLimits(period);
  const use = (limit_name: AlertLimit, used: number, limitUnit = 1n): Use => {
    const limit = limits[limit_name];
    return { limit_name, used: BigInt(used), limit: limit === null ? null : BigInt(limit) * limitUnit };
  };
  return [
    use('points_limit', period.points),
    use('time_sec_limit', period.time_ms, 1_000n),
    use('traffic_bytes_limit', period.traffic_bytes),
    use('team_slots_limit', period.slots_taken),
  ];
}

/**
 * Forgets the thresholds that usage hasn't passed any more because a grant has raised the limit, so that they alert
 * again. A limit that falls, by a void or an expiry, forgets none.
 */
async function rearmAlerts(query: Query, period_id: number, uses: readonly Use[]): Promise<void> {
  const points = uses.find(({ limit_name }) => limit_name === 'points_limit');
  if (points === undefined || points.limit === null) return;
  await query(
    `DELETE FROM usage_alerts
     WHERE period_id = :period_id AND limit_name = 'points_limit' AND limit_value < CAST(:limit AS bigint)
       AND share * CAST(:limit AS numeric) > CAST(:used AS numeric) * 100`,
    { period_id, limit: String(points.limit), used: String(points.used) },
  );
}

/** Ordered by the key, which prevents deadlocks. */
function insertAlerts(
  query: Query,
  { period_id, account_id }: CheckedPeriod,
  uses: readonly Use[],
  passed: readonly Passed[],
): Promise<Alert[]> {
  const rows = passed.map(({ limit_name, share }) => {
    const { used, limit } = uses.find((use) => use.limit_name === limit_name) ?? { used: 0n, limit: 0n };
    const unit = limit_name === 'time_sec_limit' ? 1_000n : 1n;
    return { limit_name, share, used: String(used / unit), limit_value: String((limit ?? 0n) / unit) };
  });
  return query<Alert>(
    `INSERT INTO usage_alerts (account_id, period_id, limit_name, share, used, limit_value)
     SELECT :account_id, :period_id, * FROM unnest(CAST(:limit_name AS text[]), CAST(:share AS integer[]),
       CAST(:used AS bigint[]), CAST(:limit_value AS bigint[])) AS passed (limit_name, share, used, limit_value)
     ORDER BY limit_name, share
     ON CONFLICT (period_id, limit_name, share) DO NOTHING
     RETURNING alert_id, limit_name, share, used, limit_value, created_at`,
    {
      account_id,
      period_id,
      limit_name: rows.map(({ limit_name }) => limit_name),
      share: rows.map(({ share }) => share),
      used: rows.map(({ used }) => used),
      limit_value: rows.map(({ limit_value }) => limit_value),
    },
  );
}
