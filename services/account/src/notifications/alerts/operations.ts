import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { Problem } from '@tollgate/http/problem';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { unblocked } from '../../billing/entitlements/refuse-blocked.ts';
import { session } from '../../identity/sessions/require-session.ts';
import { refuseExceeded } from '../../identity/attempts/attempt-counts.ts';
import type { AttemptCounts } from '../../identity/attempts/attempt-counts.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { findAlertLimits, findRecentAlerts } from './recent-store.ts';
import type { AlertSettings } from './rules.ts';
import { sendAlertTest } from './changes.ts';
import { findAlertSettings, storeAlertSettings, versionOf } from './settings-store.ts';
import { alertSettingsAnswerSchema, alertTestSchema, recentAlertsSchema } from './answers.ts';
import { alertSettingsSchema } from './input.ts';

type Needs = { query: Query; transact: Transact };

type TestNeeds = { transact: Transact; counts: AttemptCounts; wakeMails: () => void };

/** Per account: a test is a mail. */
const TESTS_MAX = 5;

const HOUR_SEC = 3_600;

const SETTINGS = { description: 'The settings.', schema: alertSettingsAnswerSchema };

export const ownerAlerts = {
  title: 'Alerts',
  description:
    'Alert thresholds, as a percentage of a limit. The payer gets each alert once per billing period, by email and by webhook.',
  operations: [
    operation('GET /api/console/alerts', {
      operationId: 'getAlertSettings',
      summary: 'Get the alert settings',
      caller: session,
      answers: { 200: SETTINGS },
      handle: async ({ query }: Needs, { by }) =>
        answer(query, by.account_id, await findAlertSettings(query, by.account_id)),
    }),
    operation('PUT /api/console/alerts', {
      operationId: 'putAlertSettings',
      summary: 'Replace the alert settings',
      description:
        'If usage has already passed a new threshold in the current period, the alert is sent at once.',
      caller: session,
      body: alertSettingsSchema,
      example: { mail: true, shares: [50, 80, 100], limits: { team_slots_limit: [100] } },
      answers: { 200: SETTINGS },
      problems: ['edit_conflict'],
      handle: async (
        { query: read, transact }: Needs,
        { by: { account_id, actor }, body: { limits = {}, version, ...rest } },
      ) => {
        const wanted = { ...rest, limits };
        await transact(async (query) => {
          await lockAccount(query, account_id);
          const stored = await findAlertSettings(query, account_id);
          if (version !== undefined && version !== versionOf(stored)) throw new Problem('edit_conflict');
          await storeAlertSettings(query, account_id, wanted);
          const entry = { ...actor, account_id, application_id: null };
          await recordAudit(query, { ...entry, action: 'alert_settings_changed', details: wanted });
        });
        return answer(read, account_id, wanted);
      },
    }),
    operation('GET /api/console/alerts/recent', {
      operationId: 'listRecentAlerts',
      summary: 'List the latest alerts, newest first',
      description: 'At most 10, those of earlier billing periods and tests included.',
      caller: session,
      answers: { 200: { description: 'The alerts.', schema: recentAlertsSchema } },
      handle: async ({ query }: Needs, { by }) => ({ alerts: await findRecentAlerts(query, by.account_id) }),
    }),
    operation('POST /api/console/alerts/test', {
      operationId: 'testAlerts',
      summary: 'Send a test alert by email',
      description:
        'To the email address of the account, also if alerts by email are off. At most 5 per hour. Webhooks have test ' +
        'events of their own.',
      caller: session,
      guard: unblocked,
      answers: { 202: { description: 'Where the mail goes.', schema: alertTestSchema } },
      problems: ['account_blocked', 'too_many_requests'],
      handle: async ({ transact, counts, wakeMails }: TestNeeds, { by: { account_id, actor } }) => {
        const subject = `alert tests ${String(account_id)}`;
        refuseExceeded(await counts.take([{ subject, max: TESTS_MAX, windowSec: HOUR_SEC }]));
        const email = await transact((query) => sendAlertTest(query, account_id, actor));
        wakeMails();
        return { email };
      },
    }),
  ],
} satisfies Chapter;

async function answer(query: Query, accountId: number, settings: AlertSettings) {
  return {
    ...settings,
    plan_limits: await findAlertLimits(query, accountId),
    version: versionOf(settings),
  };
}
