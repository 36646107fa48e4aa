import type { ApiChapter } from '../../http/operation.ts';
import { activityAnswerSchema } from './answers.ts';
import { activitySchema } from './endpoint.ts';

export const activityApi: ApiChapter = {
  title: 'Activity',
  description: 'The audit trail of an account.',
  operations: {
    'GET /api/console/activity': {
      operationId: 'listActivity',
      summary: 'List what was done in the account, newest first',
      description: 'Entries are kept as long as the account exists, and cannot be changed.',
      caller: 'session',
      query: activitySchema,
      answers: { 200: { description: 'A page of entries.', schema: activityAnswerSchema } },
    },
  },
};
