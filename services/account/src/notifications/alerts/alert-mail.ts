import type { Query } from '../../platform/database/query.ts';
import type { UsageAlertMail } from '../../mail/mail-text.ts';
import type { AlertLimit } from './rules.ts';

const WORDS: Readonly<Record<AlertLimit, { limit: string; unit: string }>> = {
  points_limit: { limit: 'points', unit: 'points' },
  time_sec_limit: { limit: 'subscription time', unit: 'seconds' },
  traffic_bytes_limit: { limit: 'traffic', unit: 'bytes' },
  team_slots_limit: { limit: 'team slots', unit: 'slots' },
};

type Row = Omit<UsageAlertMail, 'limit' | 'unit'> & { limit_name: AlertLimit };

/** What the mail of an alert tells; undefined where the account's address is not verified any more. */
export async function findAlertMail(query: Query, alertId: number): Promise<UsageAlertMail | undefined> {
  const rows = await query<Row>(
    `SELECT email AS "to", limit_name, share, used, limit_value, started_at, ended_at
     FROM usage_alerts JOIN billing_periods USING (period_id)
       JOIN accounts ON accounts.account_id = usage_alerts.account_id
     WHERE alert_id = :alertId AND email_verified_at IS NOT NULL`,
    { alertId },
  );
  const [found] = rows;
  if (found === undefined) return undefined;
  const { limit_name, ...rest } = found;
  return { ...rest, ...WORDS[limit_name] };
}
