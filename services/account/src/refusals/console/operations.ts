import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { Problem } from '@tollgate/http/problem';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import { cutPage, lookAhead } from '../../http/input/page.ts';
import { session } from '../../identity/sessions/require-session.ts';
import type { Query } from '../../platform/database/query.ts';
import { countsAnswer } from './counts-answer.ts';
import type { RefusalsInput } from './input.ts';
import { findApplicationCounts, findCodeCounts, findRefusalPage } from './store.ts';
import type { Whose } from './store.ts';
import { refusalCountsAnswerSchema, refusalPageSchema } from './answers.ts';
import { countsInput, refusalCountsSchema, refusalsSchema } from './input.ts';

/** Of its own pool, with a longer timeout. */
type Needs = { usageQuery: Query };

const WHOSE =
  'The view `billed` contains calls of all members of your team; `own` contains yours. The default is `own` for ' +
  'members of a team, and `billed` otherwise. Calls that were refused before their payer was known, and those with a ' +
  'refused token that names one of your applications, are in your own. Kept for 30 days by default.';

export const ownerRefusals = {
  title: 'Refused and failed calls',
  description:
    'Data calls that were refused or failed, with their code and request id. Errors of the data API itself have the ' +
    'code `upstream_error`.',
  operations: [
    operation('GET /api/console/refusals', {
      operationId: 'listRefusals',
      summary: 'List recent refused and failed calls',
      description:
        'Newest first. Of a code that occurs very often, only a sample is listed: `unrecorded_before` says how many ' +
        `were only counted. ${WHOSE}`,
      caller: session,
      query: refusalsSchema,
      answers: { 200: { description: 'A page of calls.', schema: refusalPageSchema } },
      problems: ['forbidden'],
      handle: async ({ usageQuery }: Needs, { by, query: { limit, cursor, view, ...filter } }) => {
        const head = await findHead(usageQuery, by.account_id, { view, account_id: filter.account_id });
        const found = await findRefusalPage(usageQuery, head, filter, lookAhead({ limit, cursor }));
        const { rows, next_cursor } = cutPage(found, { limit }, ({ refusal_id }) => refusal_id);
        return { ...head, refusals: rows.map(refusalAnswer), next_cursor };
      },
    }),
    operation('GET /api/console/refusals/counts', {
      operationId: 'countRefusals',
      summary: 'Count refused and failed calls by code and time',
      description: `Exact numbers by hour or day of UTC. ${WHOSE}`,
      caller: session,
      query: refusalCountsSchema,
      answers: { 200: { description: 'The numbers.', schema: refusalCountsAnswerSchema } },
      problems: ['forbidden'],
      readQuery: (req) => countsInput(req, new Date()),
      handle: async ({ usageQuery }: Needs, { by, query: { view, range, ...filter } }) => {
        const head = await findHead(usageQuery, by.account_id, { view, account_id: filter.account_id });
        const rows = await findCodeCounts(usageQuery, head, range, filter);
        const ofAll = { ...filter, application_id: undefined };
        const applications = await findApplicationCounts(usageQuery, head, range, ofAll);
        return { ...head, ...countsAnswer(range, rows), applications };
      },
    }),
  ],
} satisfies Chapter;

function refusalAnswer<Row extends { kind: string }>(row: Row) {
  return { ...row, transport: row.kind === 'call' ? ('http' as const) : ('websocket' as const) };
}

async function findHead(
  query: Query,
  accountId: number,
  wanted: Pick<RefusalsInput, 'view' | 'account_id'>,
): Promise<Whose & { payer_id: number }> {
  const payerPeriods = await findPayerPeriods(query, accountId);
  if (payerPeriods === undefined) throw new Problem('not_found');
  const { payer_id } = payerPeriods;
  const view = wanted.view ?? (payer_id === accountId ? 'billed' : 'own');
  if (view === 'own' && wanted.account_id !== undefined && wanted.account_id !== accountId) {
    throw new Problem('forbidden', { detail: 'Only the payer can see the calls of other accounts.' });
  }
  return { account_id: accountId, payer_id, view };
}
