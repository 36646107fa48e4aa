import { z } from 'zod';
import type { ApiChapter } from '../../http/operation.ts';
import { paceAnswerSchema, usageViewAnswerSchema } from './answers.ts';
import { usageViewSchema } from './input.ts';

export const usageViewApi: ApiChapter = {
  title: 'Usage over time',
  description:
    'When, by what and by whom a plan is used, and whether it will last. Days and hours are of UTC.',
  operations: {
    'GET /api/console/usage': {
      operationId: 'getUsageOverTime',
      summary: 'Usage by day or hour of the last 14 months, as JSON or CSV',
      description:
        'The view `billed` is what one’s own billing periods have paid for, by whoever; `own` what one has used ' +
        'oneself, whoever has paid. A member of a team gets `own` unless it asks otherwise. By the hour at most 31 ' +
        'days. What the view doesn’t contain is zero. As JSON at most 10,000 groups in buckets, as CSV 50,000. The ' +
        'CSV has a line for each bucket or, grouped, for each group in one; text that a spreadsheet would take for ' +
        'a formula begins with an apostrophe.',
      caller: 'session',
      query: usageViewSchema,
      answers: {
        200: {
          description: 'The usage. `format` chooses between JSON and CSV, else `Accept`.',
          schema: usageViewAnswerSchema,
          furtherSchemas: { 'text/csv': z.string() },
        },
      },
      problems: ['forbidden'],
    },
    'GET /api/console/usage/pace': {
      operationId: 'getPace',
      summary: 'How the limits of the current billing period are used up',
      description:
        'The used share of each limit beside the elapsed share of the period, and when it will be reached, by the ' +
        'mean of the period and by the last 24 hours.',
      caller: 'session',
      answers: { 200: { description: 'The pace.', schema: paceAnswerSchema } },
      problems: ['no_billing_period'],
    },
  },
};
