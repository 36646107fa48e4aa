import type { Request, RequestHandler, Response } from 'express';
import { Problem } from '@tollgate/http/problem';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import type { Query } from '../../platform/database/query.ts';
import { cutPage, lookAhead, queryOf } from '../../http/input/page.ts';
import { countsAnswer } from './counts-answer.ts';
import { countsInput, refusalsSchema } from './input.ts';
import type { RefusalsInput } from './input.ts';
import { findApplicationCounts, findCodeCounts, findRefusalPage } from './store.ts';
import type { Whose } from './store.ts';

type AccountOf = (req: Request, res: Response) => number;

/**
 * `GET /api/console/refusals?code=&application_id=&account_id=&request_id=&from=&to=&view=&limit=50&cursor=…`: 200
 * `{account_id, payer_id, view, refusals, next_cursor}` (answers.ts), newest first. 403 `forbidden` for another's
 * `account_id` in the view `own`; 400 `invalid_request` naming all invalid parameters (ADR 0058).
 */
export function refusalListEndpoint(query: Query, accountOf: AccountOf): RequestHandler {
  return async (req, res) => {
    const { limit, cursor, view, ...filter } = queryOf(req, refusalsSchema);
    const head = await findHead(query, accountOf(req, res), { view, account_id: filter.account_id });
    const found = await findRefusalPage(query, head, filter, lookAhead({ limit, cursor }));
    const { rows, next_cursor } = cutPage(found, { limit }, ({ refusal_id }) => refusal_id);
    const refusals = rows.map((row) => ({ ...row, transport: row.kind === 'call' ? 'http' : 'websocket' }));
    res.json({ ...head, refusals, next_cursor });
  };
}

/**
 * `GET /api/console/refusals/counts?interval=hour&from=&to=&code=&application_id=&account_id=&view=`: 200 `{account_id,
 * payer_id, view, interval, from, to, calls, codes, applications, buckets}` (answers.ts). Errors as above.
 */
export function refusalCountsEndpoint(query: Query, accountOf: AccountOf): RequestHandler {
  return async (req, res) => {
    const { view, range, ...filter } = countsInput(req, new Date());
    const head = await findHead(query, accountOf(req, res), { view, account_id: filter.account_id });
    const rows = await findCodeCounts(query, head, range, filter);
    const applications = await findApplicationCounts(query, head, range, {
      ...filter,
      application_id: undefined,
    });
    res.json({ ...head, ...countsAnswer(range, rows), applications });
  };
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
