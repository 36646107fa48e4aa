import type { MailContent, MailSite } from '../../mail/layout/mail-content.ts';
import type { MailRenderers } from '../../mail/mail-renderer.ts';
import type { Query } from '../../platform/database/query.ts';

export type BudgetMail = {
  kind: 'budget_alert';
  recipient: string;
  account_id: number;
  budget_alert_id: number;
};

export const budgetMails: MailRenderers<BudgetMail> = {
  budget_alert: async (query, { budget_alert_id }, site) => {
    const alert = await findMailedAlert(query, budget_alert_id);
    return alert === undefined ? undefined : alertMail(alert, site);
  },
};

type MailedAlert = {
  to: string;
  /** Null for a member's budget. */
  application_id: number | null;
  /** The member's address; null if the mail is to the member, or about an application. */
  member_email: string | null;
  is_day: boolean;
  share: number;
  used: number;
  limit_value: number;
};

/** Undefined if the budget has changed since, or the account's address isn't verified any more. */
async function findMailedAlert(query: Query, alertId: number): Promise<MailedAlert | undefined> {
  const rows = await query<MailedAlert>(
    `SELECT told.email AS "to", application_id,
            CASE WHEN member.account_id <> told.account_id THEN member.email END AS member_email,
            day IS NOT NULL AS is_day, share, used, limit_value
     FROM budget_alerts JOIN accounts AS told USING (account_id)
       LEFT JOIN accounts AS member ON member.account_id = member_id
     WHERE budget_alert_id = :alertId AND told.email_verified_at IS NOT NULL`,
    { alertId },
  );
  return rows[0];
}

/** Without the names of applications and members: users typed them. */
function alertMail(alert: MailedAlert, { publicUrl }: MailSite): MailContent {
  const { to, application_id, member_email, is_day, share, used, limit_value } = alert;
  const percent = String(Math.min(100, Math.max(share, Math.floor((used / limit_value) * 100))));
  const window = is_day ? 'today (UTC)' : 'in this billing period';
  const { who, whose } = wordsOf(alert);
  return {
    to,
    subject: `${who} used ${percent}% of ${whose} budget`,
    lines: [
      `${who} spent ${used.toLocaleString('en')} of ${limit_value.toLocaleString('en')} points ${window}.`,
      consequenceOf(alert),
    ],
    facts: [
      ...(application_id === null ? [] : [['Application ID', String(application_id)] as const]),
      ...(member_email === null ? [] : [['Member', member_email] as const]),
      ['Threshold reached', `${String(share)}% of the budget`],
    ],
    action:
      application_id === null
        ? { label: 'View your team', href: `${publicUrl}/user/team` }
        : { label: 'View your applications', href: `${publicUrl}/user/api_v2/applications` },
    closing: [{ label: 'Change the thresholds or turn these emails off', href: `${publicUrl}/user/alerts` }],
  };
}

function wordsOf({ application_id, member_email }: MailedAlert): { who: string; whose: string } {
  if (application_id !== null) return { who: 'An application has', whose: 'its' };
  return member_email === null
    ? { who: 'You have', whose: 'your' }
    : { who: 'A team member has', whose: 'their' };
}

function consequenceOf({ is_day, used, limit_value }: MailedAlert): string {
  const until = is_day ? 'the next day (UTC) begins' : 'the next billing period starts';
  const refusal = `calls are refused with status 402 until ${until} or the budget is raised.`;
  return used >= limit_value ? `Further ${refusal}` : `At 100%, ${refusal}`;
}
