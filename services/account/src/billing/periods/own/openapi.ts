import type { ApiChapter } from '../../../http/operation.ts';
import { ownPeriodsAnswerSchema } from './answers.ts';
import { ownPeriodsSchema } from './endpoint.ts';

export const ownPeriodApi: ApiChapter = {
  title: 'Billing periods',
  description: 'Your current and past billing periods.',
  operations: {
    'GET /api/console/periods': {
      operationId: 'listPeriods',
      summary: 'List your billing periods',
      description:
        'Returns the periods of your own account that have started, newest first, with their limits and all usage ' +
        'charged to them. Periods of your team’s manager are not included.',
      caller: 'session',
      query: ownPeriodsSchema,
      answers: { 200: { description: 'A page of billing periods.', schema: ownPeriodsAnswerSchema } },
    },
  },
};
