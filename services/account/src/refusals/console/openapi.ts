import type { ApiChapter } from '../../http/operation.ts';
import { refusalCountsAnswerSchema, refusalPageSchema } from './answers.ts';
import { refusalCountsSchema, refusalsSchema } from './input.ts';

const WHOSE =
  'The view `billed` contains calls of all members of your team; `own` contains yours. The default is `own` for ' +
  'members of a team, and `billed` otherwise. Calls that were refused before their payer was known, and those with a ' +
  'refused token that names one of your applications, are in your own. Kept for 30 days by default.';

export const refusalApi: ApiChapter = {
  title: 'Refused and failed calls',
  description:
    'Data calls that were refused or failed, with their code and request id. Errors of the data API itself have the ' +
    'code `upstream_error`.',
  operations: {
    'GET /api/console/refusals': {
      operationId: 'listRefusals',
      summary: 'List recent refused and failed calls',
      description:
        'Newest first. Of a code that occurs very often, only a sample is listed: `unrecorded_before` says how many ' +
        `were only counted. ${WHOSE}`,
      caller: 'session',
      query: refusalsSchema,
      answers: { 200: { description: 'A page of calls.', schema: refusalPageSchema } },
      problems: ['forbidden'],
    },
    'GET /api/console/refusals/counts': {
      operationId: 'countRefusals',
      summary: 'Count refused and failed calls by code and time',
      description: `Exact numbers by hour or day of UTC. ${WHOSE}`,
      caller: 'session',
      query: refusalCountsSchema,
      answers: { 200: { description: 'The numbers.', schema: refusalCountsAnswerSchema } },
      problems: ['forbidden'],
    },
  },
};
