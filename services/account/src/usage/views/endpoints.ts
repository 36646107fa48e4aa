import type { Request, RequestHandler, Response } from 'express';
import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import type { Query } from '../../platform/database/query.ts';
import { csvFileName, usageCsv } from './series/csv.ts';
import { usageViewInput } from './input.ts';
import type { UsageViewInput } from './input.ts';
import { findNames } from './names.ts';
import type { Viewer } from './names.ts';
import { paceAnswer } from './pace/pace-answer.ts';
import { groupIds, usageSeries, usageSeriesAnswer } from './series/series.ts';
import type { UsageSeries } from './series/series.ts';
import { findUsageRows } from './store.ts';

/** Each row is a group in a bucket. */
const MAX_ROWS = { json: 10_000, csv: 50_000 } as const;

/**
 * `GET /api/console/usage` and, for operators, `GET /private/accounts/{account_id}/usage`: usage by day or hour of
 * UTC within the last 14 months (ADR 0028). Optional query parameters:
 *
 * - `interval`: `day` (default) or `hour`.
 * - `from`, `to`: RFC 3339 times, `to` exclusive, or dates, which include their whole day; extended to whole buckets.
 *   Default: the last 30 days or 24 hours. At most 31 days by the hour.
 * - `group_by`: `none` (default), `application`, `member`, `api_version`.
 * - `view`: `billed`, all usage charged to the account's periods, or `own`, the account's usage. Default: `own` for a
 *   member of a team, else `billed`.
 * - `application_id`, `account_id`, `api_version` (`v1`, `v2`): filters. 403 `forbidden` for another's `account_id`
 *   in `own`.
 * - `format`: `json` or `csv` (series/csv.ts); without it, `Accept` decides.
 *
 * 200 `{account_id, payer_id, view, group_by, interval, from, to, usage, groups, buckets}` (answers.ts), with a
 * bucket for every day or hour. 400 `invalid_request` naming all invalid parameters, also above 10,000 groups in
 * buckets (50,000 as CSV). 404 `not_found`; 503 while Postgres is unavailable.
 */
export function usageViewEndpoint(
  query: Query,
  viewerOf: (req: Request, res: Response) => Viewer,
): RequestHandler {
  return async (req, res) => {
    const now = new Date();
    const input = usageViewInput(req, now);
    const viewer = viewerOf(req, res);
    res.vary('accept');
    const format = input.format ?? (req.accepts(['json', 'text/csv']) === 'text/csv' ? 'csv' : 'json');
    const series = await findSeries(query, { viewer, input, maxRows: MAX_ROWS[format], now });
    if (format === 'csv') sendCsv(res, series);
    else res.json(usageSeriesAnswer(series));
  };
}

/**
 * `GET /api/console/usage/pace`: how fast the enforced limits of the current period are used. 200 `{account_id,
 * payer_id, status, billing_period, elapsed_share, limits}` (answers.ts). Shares are rounded down to four digits, so
 * `used_share` is 1 or more exactly if `reached`. 404 `no_billing_period`.
 */
export function paceEndpoint(
  query: Query,
  accountOf: (req: Request, res: Response) => number,
): RequestHandler {
  return async (req, res) => {
    res.json(await paceAnswer(query, accountOf(req, res), new Date()));
  };
}

type Asked = { viewer: Viewer; input: UsageViewInput; maxRows: number; now: Date };

async function findSeries(query: Query, { viewer, input, maxRows, now }: Asked): Promise<UsageSeries> {
  const { account_id } = viewer;
  const { range, group_by, application_id, api_version } = input;
  const payerPeriods = await findPayerPeriods(query, account_id, now);
  if (payerPeriods === undefined) throw new Problem('not_found');
  const { payer_id } = payerPeriods;
  const view = input.view ?? (payer_id === account_id ? 'billed' : 'own');
  if (view === 'own' && input.account_id !== undefined && input.account_id !== account_id) {
    throw new Problem('forbidden', { detail: 'Only the payer can see the usage of other accounts.' });
  }
  const filter = { application_id, account_id: input.account_id, api_version };
  const rows = await findUsageRows(query, { account_id, view, range, group_by, filter, limit: maxRows + 1 });
  if (rows.length > maxRows) throw tooManyRows(maxRows);
  const namesOf = await findNames(query, group_by, groupIds(rows), viewer);
  return usageSeries({ account_id, payer_id, view, group_by, range }, rows, namesOf);
}

function tooManyRows(maxRows: number): Problem {
  const message = `gives more than ${String(maxRows)} rows: use a shorter range, longer intervals or a filter`;
  return invalidFields([{ field: 'group_by', message }]);
}

function sendCsv(res: Response, series: UsageSeries): void {
  res
    .attachment(csvFileName(series))
    .type('text/csv; charset=utf-8; header=present')
    .send(Buffer.from(usageCsv(series), 'utf8'));
}
