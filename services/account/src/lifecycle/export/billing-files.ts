import { LIMIT_FIELDS } from '@tollgate/contracts/entitlement';
import { USAGE_FIELDS } from '@tollgate/contracts/usage-response';
import { creditAnswer } from '../../billing/credits/answers.ts';
import { listCredits, listMovements } from '../../billing/credits/store.ts';
import { listOwnPeriods, ownPeriodAnswer, startSecond } from '../../billing/periods/own/list.ts';
import { findAlertSettings } from '../../notifications/alerts/settings-store.ts';
import { listDeliveries } from '../../notifications/deliveries/stores/delivery-store.ts';
import { listWebhooks } from '../../notifications/webhooks/store.ts';
import { findRefusalPage } from '../../refusals/console/store.ts';
import { listInvoices } from '../../payments/invoices/store.ts';
import { listPurchases } from '../../payments/purchases/store.ts';
import { findSettings, listTopUps } from '../../payments/top-ups/store.ts';
import { allPages, exportTable, onePage, pagesAfter } from './export-file.ts';
import type { ExportRecord } from './export-file.ts';
import {
  listAlerts,
  listAllSubscriptions,
  listBudgetAlerts,
  listOperationDays,
  listPeriodIds,
  listUsageHours,
} from './store.ts';
import type { OperationDay, UsageHour, UsageOf } from './store.ts';

export const subscriptions = exportTable({
  name: 'subscriptions',
  description: 'Your subscriptions to plans.',
  columns: [
    'subscription_id',
    'plan_name',
    'billing_interval',
    'team_slots_limit',
    'pending_plan_name',
    'pending_interval',
    'cancel_at_period_end',
    'following_plan_name',
    'renews_at',
    'created_at',
    'ended_at',
  ],
  pages: ({ query, account_id }) => onePage(listAllSubscriptions(query, account_id)),
});

export const periods = exportTable({
  name: 'billing-periods',
  description: 'Your billing periods, with their limits and all usage charged to them.',
  columns: [
    'period_id',
    'plan_name',
    'product_name',
    'started_at',
    'ended_at',
    'status',
    ...LIMIT_FIELDS,
    ...USAGE_FIELDS,
    'overuse_points',
  ],
  pages: async function* ({ query, account_id, now }) {
    const pages = allPages((page) => listOwnPeriods(query, account_id, page, now), startSecond);
    for await (const rows of pages) {
      yield rows.map((row) => {
        const { product, limits, usage, ...period } = ownPeriodAnswer(row, now);
        return { ...period, product_name: product?.name, ...limits, ...usage };
      });
    }
  },
});

export const credits = exportTable({
  name: 'credits',
  description: 'Points that were bought or given, with what is left of them.',
  columns: [
    'credit_id',
    'status',
    'points',
    'points_remaining',
    'source',
    'priority',
    'effective_at',
    'expires_at',
    'note',
    'void_requested_at',
    'voided_at',
    'points_voided',
    'created_at',
  ],
  pages: async function* ({ query, account_id, now }) {
    const pages = allPages(
      (page) => listCredits(query, { account_id }, page),
      ({ credit_id }) => credit_id,
    );
    for await (const rows of pages) yield rows.map((credit) => creditAnswer(credit, now.getTime()));
  },
});

export const creditMovements = exportTable({
  name: 'credit-movements',
  description: 'What moved to and from your credits, and the billing periods whose usage they paid.',
  columns: [
    'movement_id',
    'credit_id',
    'from_ledger',
    'to_ledger',
    'points',
    'reason',
    'corrects_movement_id',
    'period_id',
    'at',
    'created_at',
  ],
  pages: ({ query, account_id }) =>
    allPages(
      (page) => listMovements(query, { account_id }, page),
      ({ movement_id }) => movement_id,
    ),
});

export const purchases = exportTable({
  name: 'purchases',
  description:
    "Packs of points that you bought. amount is in the currency's minor unit, without tax and discounts; payment_id is Stripe's.",
  columns: [
    'purchase_id',
    'pack_name',
    'quantity',
    'points',
    'currency',
    'amount',
    'state',
    'payment_id',
    'credit_id',
    'created_at',
    'paid_at',
  ],
  pages: ({ query, account_id }) =>
    allPages(
      (page) => listPurchases(query, { account_id }, page),
      ({ purchase_id }) => purchase_id,
    ),
});

export const invoices = exportTable({
  name: 'invoices',
  description:
    "Your invoices. total is in the currency's minor unit, with tax and discounts; stripe_invoice_id is Stripe's, which has their pages and PDFs.",
  columns: [
    'invoice_id',
    'stripe_invoice_id',
    'subscription_id',
    'number',
    'state',
    'currency',
    'total',
    'period_end',
    'issued_at',
    'paid_at',
  ],
  pages: ({ query, account_id }) =>
    allPages(
      (page) => listInvoices(query, { account_id }, page),
      ({ invoice_id }) => invoice_id,
    ),
});

export const topUpSettings: ExportRecord = {
  name: 'top-up-settings',
  description: 'What you have set for automatic top-up; null if nothing.',
  read: async ({ query, account_id }) => (await findSettings(query, account_id)) ?? null,
};

export const topUps = exportTable({
  name: 'top-ups',
  description:
    "Attempts of automatic top-up to buy points. amount is in the currency's minor unit, without tax; payment_id is Stripe's.",
  columns: [
    'top_up_id',
    'pack_name',
    'points',
    'currency',
    'amount',
    'state',
    'decline_code',
    'payment_id',
    'purchase_id',
    'created_at',
    'decided_at',
  ],
  pages: ({ query, account_id }) =>
    allPages(
      (page) => listTopUps(query, { account_id }, page),
      ({ top_up_id }) => top_up_id,
    ),
});

export const usage = exportTable({
  name: 'usage',
  description:
    'Usage by the hour: all usage charged to your billing periods, and yours that someone else pays for. payer_id is the account that pays; time_ms is open subscriptions, in milliseconds.',
  columns: [
    'hour',
    'period_id',
    'payer_id',
    'account_id',
    'application_id',
    'application_name',
    'api_version',
    'points',
    'requests',
    'time_ms',
    'traffic_bytes',
  ],
  pages: async function* ({ query, account_id }) {
    const periodIds = await listPeriodIds(query, account_id);
    const parts: UsageOf[] = [
      ...periodIds.map((period_id) => ({ billed: { period_id } })),
      { own: { account_id, not: periodIds } },
    ];
    for (const part of parts) {
      yield* pagesAfter<UsageHour>((after, limit) => listUsageHours(query, part, after, limit));
    }
  },
});

export const usageByOperation = exportTable({
  name: 'usage-by-operation',
  description:
    'Usage by day and GraphQL operation: all usage charged to your billing periods, and yours that someone else pays for. An empty hash is other operations together; document has no literals; durations counts requests by duration, from 2^(n/2) ms for the n-th.',
  columns: [
    'day',
    'payer_id',
    'account_id',
    'application_id',
    'api_version',
    'operation_name',
    'hash',
    'points',
    'requests',
    'errors',
    'durations',
    'document',
  ],
  pages: ({ query, account_id }) =>
    pagesAfter<OperationDay>((after, limit) => listOperationDays(query, account_id, after, limit)),
});

export const refusedCalls = exportTable({
  name: 'refused-calls',
  description: 'Recent data calls that were refused or failed.',
  columns: [
    'refusal_id',
    'at',
    'request_id',
    'kind',
    'code',
    'status',
    'account_id',
    'account_name',
    'application_id',
    'application_name',
    'operation_name',
    'api_version',
    'duration_ms',
    'points',
    'detail',
    'unrecorded_before',
  ],
  pages: ({ query, account_id, view }) =>
    allPages(
      (page) => findRefusalPage(query, { account_id, view }, {}, page),
      ({ refusal_id }) => refusal_id,
    ),
});

export const alertSettings: ExportRecord = {
  name: 'alert-settings',
  description: 'Your alert thresholds, in percent of each limit.',
  read: ({ query, account_id }) => findAlertSettings(query, account_id),
};

export const alerts = exportTable({
  name: 'alerts',
  description:
    'Alerts: share is the threshold in percent, used and limit_value are in the unit of the limit.',
  columns: ['alert_id', 'created_at', 'period_id', 'limit_name', 'share', 'used', 'limit_value'],
  pages: ({ query, account_id }) =>
    allPages(
      (page) => listAlerts(query, account_id, page),
      ({ alert_id }) => alert_id,
    ),
});

export const budgetAlerts = exportTable({
  name: 'budget-alerts',
  description:
    'Alerts of budgets of your applications, of your own as a member, and of the members of your team. Either period_id or day says which window is meant.',
  columns: [
    'budget_alert_id',
    'created_at',
    'application_id',
    'member_account_id',
    'period_id',
    'day',
    'share',
    'used',
    'limit_value',
  ],
  pages: ({ query, account_id }) =>
    allPages(
      (page) => listBudgetAlerts(query, account_id, page),
      ({ budget_alert_id }) => budget_alert_id,
    ),
});

export const webhooks = exportTable({
  name: 'webhooks',
  description: 'Your webhooks, without their secrets.',
  columns: [
    'webhook_id',
    'url',
    'description',
    'created_at',
    'disabled_at',
    'disabled_reason',
    'failing_since',
  ],
  pages: ({ query, account_id }) => onePage(listWebhooks(query, account_id)),
});

export const deliveries = exportTable({
  name: 'webhook-deliveries',
  description: 'What was sent to your webhooks, with the newest attempts.',
  columns: [
    'webhook_id',
    'delivery_id',
    'message_id',
    'event_type',
    'status',
    'attempts',
    'created_at',
    'attempted_at',
    'next_attempt_at',
    'response_status',
    'duration_ms',
    'error',
    'attempt_log',
  ],
  pages: async function* ({ query, account_id }) {
    for (const { webhook_id } of await listWebhooks(query, account_id)) {
      const pages = allPages(
        (page) => listDeliveries(query, webhook_id, { ...page, status: null }),
        ({ delivery_id }) => delivery_id,
      );
      for await (const rows of pages) yield rows.map((row) => ({ ...row, webhook_id }));
    }
  },
});
