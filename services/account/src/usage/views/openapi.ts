import { z } from 'zod';
import type { ApiChapter } from '../../http/operation.ts';
import { paceAnswerSchema, usageViewAnswerSchema } from './answers.ts';
import { usageViewSchema } from './input.ts';

export const usageViewApi: ApiChapter = {
  title: 'Usage over time',
  description:
    'When, by which applications and by whom points are used, and how long they will last. Days and hours are in UTC.',
  operations: {
    'GET /api/console/usage': {
      operationId: 'getUsageOverTime',
      summary: 'Get usage by day or hour, as JSON or CSV',
      description:
        'Covers the last 14 months. The view `billed` contains all usage charged to your billing periods, by any ' +
        'member; `own` contains your usage, no matter which account pays for it. The default is `own` for members of a team, and ' +
        '`billed` otherwise. Hourly ranges have at most 31 days. Usage outside the view counts as zero. JSON ' +
        'responses have at most 10,000 groups in buckets, CSV 50,000. The CSV has one line for each bucket or, if ' +
        'grouped, for each group in a bucket; text that a spreadsheet would interpret as a formula starts with an ' +
        'apostrophe.',
      caller: 'session',
      query: usageViewSchema,
      answers: {
        200: {
          description: 'The usage. `format` selects JSON or CSV; without it, `Accept` does.',
          schema: usageViewAnswerSchema,
          furtherSchemas: { 'text/csv': z.string() },
        },
      },
      problems: ['forbidden'],
    },
    'GET /api/console/usage/pace': {
      operationId: 'getPace',
      summary: 'Get the pace at which limits are being used',
      description:
        'Returns the used share of each limit, the elapsed share of the billing period, and when each limit will be ' +
        'reached at the average pace of the period and of the last 24 hours.',
      caller: 'session',
      answers: { 200: { description: 'The pace.', schema: paceAnswerSchema } },
      problems: ['no_billing_period'],
    },
    'GET /api/console/usage/live': {
      operationId: 'followPace',
      summary: 'Follow the pace as server-sent events',
      description:
        'Events: `pace` has the response of `GET /api/console/usage/pace` as its data, at once and after each change, ' +
        'at most about twice a second. `no_billing_period` replaces it while there is no billing period. `paused`: ' +
        'figures are unavailable for now and follow later. `session_ended` is the last event. Reconnect when the ' +
        'stream ends. A session can have four feeds.',
      caller: 'session',
      answers: {
        200: {
          description: 'The events (HTML, section 9.2).',
          schema: z.string(),
          contentTypes: ['text/event-stream'],
        },
      },
      problems: ['too_many_requests'],
    },
  },
};
