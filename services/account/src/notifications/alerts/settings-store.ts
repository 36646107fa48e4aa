import { createHash } from 'node:crypto';
import { findVerifiedEmail } from '../../identity/accounts/account-store.ts';
import type { Query } from '../../platform/database/query.ts';
import { DEFAULT_SETTINGS } from './rules.ts';
import type { AlertSettings } from './rules.ts';

/** To whom an account's alerts are mailed: null if it wants no mails or its address isn't verified. */
export async function findAlertAddress(query: Query, accountId: number): Promise<string | null> {
  const { mail } = await findAlertSettings(query, accountId);
  if (!mail) return null;
  return (await findVerifiedEmail(query, accountId)) ?? null;
}

const VERSION_CHARACTERS = 16;

export async function findAlertSettings(query: Query, accountId: number): Promise<AlertSettings> {
  const rows = await query<AlertSettings>(
    'SELECT mail, shares, limit_shares AS limits FROM alert_settings WHERE account_id = :accountId',
    { accountId },
  );
  return rows[0] ?? DEFAULT_SETTINGS;
}

/** Of the settings themselves, so that two changes to the same settings are no conflict. */
export function versionOf({ mail, shares, limits }: AlertSettings): string {
  const ofLimits = Object.entries(limits).toSorted(([one], [other]) => one.localeCompare(other));
  const text = JSON.stringify([mail, shares, ofLimits]);
  return createHash('sha256').update(text).digest('hex').slice(0, VERSION_CHARACTERS);
}

/** Also requests a check: the current period may have passed a new threshold already. */
export async function storeAlertSettings(
  query: Query,
  accountId: number,
  { mail, shares, limits }: AlertSettings,
): Promise<void> {
  await query(
    `INSERT INTO alert_settings (account_id, mail, shares, limit_shares)
     VALUES (:accountId, :mail, CAST(:shares AS integer[]), CAST(:limits AS jsonb))
     ON CONFLICT (account_id) DO UPDATE SET mail = excluded.mail, shares = excluded.shares,
       limit_shares = excluded.limit_shares, changed_at = now()`,
    { accountId, mail, shares, limits: JSON.stringify(limits) },
  );
  await query(
    `INSERT INTO usage_alert_checks (period_id)
     SELECT period_id FROM billing_periods
     WHERE account_id = :accountId AND started_at <= clock_timestamp()
       AND ended_at + interval '1 second' > clock_timestamp()`,
    { accountId },
  );
}
