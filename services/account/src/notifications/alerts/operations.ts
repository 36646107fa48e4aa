import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { Problem } from '@tollgate/http/problem';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { session } from '../../identity/sessions/require-session.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { AlertSettings } from './rules.ts';
import { findAlertSettings, storeAlertSettings, versionOf } from './settings-store.ts';
import { alertSettingsAnswerSchema } from './answers.ts';
import { alertSettingsSchema } from './input.ts';

type Needs = { query: Query; transact: Transact };

const SETTINGS = { description: 'The settings.', schema: alertSettingsAnswerSchema };

export const ownerAlerts = {
  title: 'Alerts',
  description:
    'Alert thresholds, as a percentage of a limit. The payer gets each alert once per billing period, by mail and by webhook.',
  operations: [
    operation('GET /api/console/alerts', {
      operationId: 'getAlertSettings',
      summary: 'Get the alert settings',
      caller: session,
      answers: { 200: SETTINGS },
      handle: async ({ query }: Needs, { by }) => answer(await findAlertSettings(query, by.account_id)),
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
        { transact }: Needs,
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
        return answer(wanted);
      },
    }),
  ],
} satisfies Chapter;

function answer(settings: AlertSettings) {
  return { ...settings, version: versionOf(settings) };
}
