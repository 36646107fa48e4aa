import { findBudgetUses } from '../../billing/budgets/uses.ts';
import type { BudgetUse } from '../../billing/budgets/uses.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import type { Query } from '../../platform/database/query.ts';
import { enqueueDeliveries } from '../deliveries/stores/delivery-store.ts';
import type { BudgetMail } from './budget-mail.ts';
import { budgetEvent } from './event.ts';
import { passedShares } from './rules.ts';
import type { BudgetAlert } from './rules.ts';

/** What the settings of an account say, and to which address its mails go: null for none. */
type FindRecipient = (
  query: Query,
  accountId: number,
) => Promise<{ shares: readonly number[]; email: string | null }>;

/**
 * Alerts of the budgets that a period's payer pays for: an application's to its owner, a member's to the member and the
 * payer. Returns how many there are.
 */
export async function detectBudgetAlerts(
  query: Query,
  period: { period_id: number; account_id: number },
  findRecipient: FindRecipient,
): Promise<number> {
  let count = 0;
  const recipients = new Map<number, Awaited<ReturnType<FindRecipient>>>();
  const recipientOf: FindRecipient = async (inside, accountId) => {
    const found = recipients.get(accountId) ?? (await findRecipient(inside, accountId));
    recipients.set(accountId, found);
    return found;
  };
  for (const use of await findBudgetUses(query, period.period_id)) {
    const told = use.application_id === null ? [use.account_id, period.account_id] : [use.account_id];
    for (const account_id of told) {
      count += await tell(query, use, { account_id, period_id: period.period_id }, recipientOf);
    }
  }
  return count;
}

/** Of simultaneous alerts, the mail has the highest of each window. */
async function tell(
  query: Query,
  use: BudgetUse,
  { account_id, period_id }: { account_id: number; period_id: number },
  findRecipient: FindRecipient,
): Promise<number> {
  const { shares, email } = await findRecipient(query, account_id);
  const passed = passedShares(use, shares);
  const alerts: BudgetAlert[] = [];
  for (const one of passed)
    alerts.push(...(await insertAlert(query, use, { ...one, account_id, period_id })));
  if (alerts.length === 0) return 0;
  await enqueueDeliveries(
    query,
    account_id,
    alerts.map((alert) => budgetEvent(account_id, use, alert)),
  );
  if (email === null) return alerts.length;
  for (const window of ['period', 'day'] as const) {
    const highest = alerts.findLast((alert) => alert.window === window);
    if (highest === undefined) continue;
    const { budget_alert_id } = highest;
    const mail: BudgetMail = { kind: 'budget_alert', recipient: email, account_id, budget_alert_id };
    await enqueueMail(query, mail);
  }
  return alerts.length;
}

/** Of concurrent transactions, the unique key lets one write an alert. */
async function insertAlert(
  query: Query,
  { application_id, account_id: spender, today }: BudgetUse,
  alert: Pick<BudgetAlert, 'window' | 'share' | 'used' | 'limit_value'> & {
    account_id: number;
    period_id: number;
  },
): Promise<BudgetAlert[]> {
  const { window, share, used, limit_value, account_id, period_id } = alert;
  const rows = await query<Pick<BudgetAlert, 'budget_alert_id' | 'created_at'>>(
    `INSERT INTO budget_alerts
       (account_id, application_id, member_id, period_id, day, share, used, limit_value)
     VALUES (:account_id, :application_id, :member_id, :period_id, :day, :share, :used, :limit_value)
     ON CONFLICT ON CONSTRAINT budget_alerts_once DO NOTHING
     RETURNING budget_alert_id, created_at`,
    {
      account_id,
      application_id,
      member_id: application_id === null ? spender : null,
      period_id: window === 'period' ? period_id : null,
      day: window === 'day' ? today : null,
      share,
      used,
      limit_value,
    },
  );
  return rows.map((row) => ({ ...row, window, share, used, limit_value }));
}
