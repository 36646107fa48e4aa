import type { ApiChapter } from '../../http/operation.ts';
import { alertSettingsAnswerSchema } from './answers.ts';
import { alertSettingsSchema } from './input.ts';

const SETTINGS = { description: 'The settings.', schema: alertSettingsAnswerSchema };

export const alertApi: ApiChapter = {
  title: 'Alerts',
  description:
    'At which shares of a limit one is told, once per billing period: by mail and by webhooks. Of the periods that one pays for.',
  operations: {
    'GET /api/console/alerts': {
      operationId: 'getAlertSettings',
      summary: 'When one is told of usage',
      caller: 'session',
      answers: { 200: SETTINGS },
    },
    'PUT /api/console/alerts': {
      operationId: 'putAlertSettings',
      summary: 'Chooses when one is told of usage',
      description:
        'All settings are replaced. A share that the present period has passed already, without an alert, is told at once.',
      caller: 'session',
      body: alertSettingsSchema,
      example: { mail: true, shares: [50, 80, 100], limits: { team_slots_limit: [] } },
      answers: { 200: SETTINGS },
    },
  },
};
