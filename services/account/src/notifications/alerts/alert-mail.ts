import type { MailRenderers } from '../../mail/mail-renderer.ts';
import type { MailContent, MailSite } from '../../mail/layout/mail-content.ts';
import type { Query } from '../../platform/database/query.ts';
import type { AlertLimit } from './rules.ts';

export type AlertMail =
  | { kind: 'usage_alert'; recipient: string; account_id: number; alert_id: number }
  | { kind: 'alert_test'; recipient: string; account_id: number };

export const alertMails: MailRenderers<AlertMail> = {
  usage_alert: async (query, { alert_id }, site) => {
    const alert = await findMailedAlert(query, alert_id);
    return alert === undefined ? undefined : alertMail(alert, site);
  },
  alert_test: (_query, { recipient }, site) => Promise.resolve(testMail(recipient, site)),
};

const WORDS: Readonly<Record<AlertLimit, { limit: string; unit: string }>> = {
  points_limit: { limit: 'points', unit: 'points' },
  time_sec_limit: { limit: 'subscription time', unit: 'seconds' },
  traffic_bytes_limit: { limit: 'traffic', unit: 'bytes' },
  team_slots_limit: { limit: 'team slots', unit: 'slots' },
};

type MailedAlert = {
  to: string;
  limit_name: AlertLimit;
  share: number;
  used: number;
  limit_value: number;
  started_at: Date;
  ended_at: Date;
};

/** Undefined if the account's address is not verified any more. */
async function findMailedAlert(query: Query, alertId: number): Promise<MailedAlert | undefined> {
  const rows = await query<MailedAlert>(
    `SELECT email AS "to", limit_name, share, used, limit_value, started_at, ended_at
     FROM usage_alerts JOIN billing_periods USING (period_id)
       JOIN accounts ON accounts.account_id = usage_alerts.account_id
     WHERE alert_id = :alertId AND email_verified_at IS NOT NULL`,
    { alertId },
  );
  return rows[0];
}

/** Without the plan's name: a user typed it. */
function alertMail(alert: MailedAlert, { publicUrl }: MailSite): MailContent {
  const { to, limit_name, share, used, limit_value } = alert;
  const { limit, unit } = WORDS[limit_name];
  const [started, ended] = [alert.started_at, alert.ended_at].map((at) => at.toISOString().slice(0, 10));
  // Usage can exceed the limit; and it can be below the threshold, since time is rounded down to seconds.
  const percent = String(Math.min(100, Math.max(share, Math.floor((used / limit_value) * 100))));
  const usage = `${used.toLocaleString('en')} of ${limit_value.toLocaleString('en')} ${unit}`;
  return {
    to,
    subject: `You've used ${percent}% of your ${limit}`,
    lines: [`You've used ${usage} in this billing period.`, consequenceOf(alert)],
    facts: [
      ['Threshold reached', `${String(share)}% of the limit`],
      ['Billing period', `${String(started)} to ${String(ended)} (UTC)`],
    ],
    action: { label: 'View your plan', href: `${publicUrl}/user/plan` },
    closing: [
      { label: 'See what used it', href: `${publicUrl}/user/usage` },
      repetitionOf(alert),
      { label: 'Change the thresholds or turn these emails off', href: `${publicUrl}/user/alerts` },
    ],
  };
}

function testMail(to: string, { publicUrl, productName }: MailSite): MailContent {
  return {
    to,
    subject: 'Test of your usage alerts',
    lines: [
      `This is a test. Usage alerts of your ${productName} account go to this address.`,
      'Nothing has happened to your usage, and your API calls are not affected.',
    ],
    action: { label: 'View your alerts', href: `${publicUrl}/user/alerts` },
  };
}

function repetitionOf({ limit_name }: MailedAlert): string {
  const once = 'You get one alert per threshold and billing period.';
  if (limit_name !== 'points_limit') return once;
  return `${once} If you get more points, you're alerted again when you reach the threshold again.`;
}

function consequenceOf({ limit_name, used, limit_value }: MailedAlert): string {
  if (limit_name === 'team_slots_limit') {
    return 'When all slots are used, you can invite no one else until you get more slots or a larger plan.';
  }
  const end =
    limit_name === 'points_limit'
      ? 'the next billing period starts, you get more credits or you upgrade your plan'
      : 'the next billing period starts or you upgrade your plan';
  const refused = `API calls are refused with status 402 until ${end}.`;
  return used >= limit_value ? refused : `At 100%, ${refused}`;
}
