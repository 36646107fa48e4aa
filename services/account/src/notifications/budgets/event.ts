import type { BudgetUse } from '../../billing/budgets/uses.ts';
import type { WebhookEvent } from '../deliveries/event.ts';
import type { BudgetAlert } from './rules.ts';

/** docs/webhooks.md. */
export function budgetEvent(
  account_id: number,
  { application_id, account_id: spender }: Pick<BudgetUse, 'application_id' | 'account_id'>,
  { budget_alert_id, window, share, used, limit_value, created_at }: BudgetAlert,
): WebhookEvent {
  const whose =
    application_id === null
      ? { limit: 'member_budget', member_account_id: spender }
      : { limit: 'application_budget', application_id };
  return {
    type: 'usage.alert',
    timestamp: created_at,
    data: { budget_alert_id, account_id, ...whose, window, limit_value, used, share_percent: share },
  };
}
