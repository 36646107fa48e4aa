import type { ApiChapter } from '../../http/operation.ts';
import { alertSettingsAnswerSchema } from './answers.ts';
import { alertSettingsSchema } from './input.ts';

const SETTINGS = { description: 'The settings.', schema: alertSettingsAnswerSchema };

export const alertApi: ApiChapter = {
  title: 'Alerts',
  description:
    'Alert thresholds, as a percentage of a limit. The payer gets each alert once per billing period, by mail and by webhook.',
  operations: {
    'GET /api/console/alerts': {
      operationId: 'getAlertSettings',
      summary: 'Get the alert settings',
      caller: 'session',
      answers: { 200: SETTINGS },
    },
    'PUT /api/console/alerts': {
      operationId: 'putAlertSettings',
      summary: 'Replace the alert settings',
      description:
        'If usage has already passed a new threshold in the current period, the alert is sent at once.',
      caller: 'session',
      body: alertSettingsSchema,
      example: { mail: true, shares: [50, 80, 100], limits: { team_slots_limit: [] } },
      answers: { 200: SETTINGS },
      problems: ['edit_conflict'],
    },
  },
};
