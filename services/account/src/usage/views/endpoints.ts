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

/** Usage over time (ADR 0028), for who is signed in and for operators. 503 while Postgres is away. */

/** The most rows of one answer; each is a group in a bucket. */
const MAX_ROWS = { json: 10_000, csv: 50_000 } as const;

/**
 * `GET /api/console/usage` and, for operators, `GET /private/accounts/{account_id}/usage`: usage by day or hour, for
 * a range of the last 14 months. Query parameters, all of them optional:
 *
 * - `interval`: `day` (default) or `hour`, of UTC.
 * - `from`, `to`: RFC 3339 times, `to` exclusive, or dates, which name their whole day. They are widened to whole
 *   buckets, and end with the one that is running. Default: up to now, 30 days or 24 hours. By the hour at most 31
 *   days.
 * - `group_by`: `none` (default), `application`, `member`, `api_version`.
 * - `view`: `billed`, what the account's own billing periods have paid for, by whoever, also by who has left the team
 *   since; or `own`, what the account itself has used, whoever has paid. Default: `own` for a member of a team, else
 *   `billed`.
 * - `application_id`, `account_id`, `api_version` (`v1`, `v2`): nothing but that one's usage. What the view doesn't
 *   contain is zero. 403 `forbidden` for another's `account_id` in the view `own`.
 * - `format`: `json` or `csv`; where it is missing, `Accept` decides.
 *
 * 200 `{account_id, payer_id, view, group_by, interval, from, to, usage, groups, buckets}`. `usage` is
 * `{points_usage, requests_usage, time_sec_usage, traffic_bytes_usage}` as of GET /api/usage, in seconds and bytes;
 * every figure of seconds is rounded down by itself. `buckets` holds every bucket, also one without usage:
 * `{started_at, usage, groups: [{<id>, usage}]}`, in it the groups that have used something. `groups` sums them up
 * over the range, most points first: `{application_id, account_id, name, type, status, usage}` (`type` also
 * `temporary`, `status` also `deleted`; all null where there is no such application), `{account_id, name, email,
 * in_team, usage}` (`email` of who is in the team), or `{api_version, usage}`.
 *
 * As CSV one line for each bucket or, grouped, for each group in one: usage/views/csv.ts.
 *
 * 400 `invalid_request` that names all faulty parameters, also where an answer would have more than 10,000 groups in
 * buckets (50,000 as CSV). 404 `not_found` for an account that isn't there.
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
 * `GET /api/console/usage/pace`: how the limits of the period that GET /api/usage shows are used up. 200
 * `{account_id, payer_id, status, billing_period: {started_at, ended_at, plan_name}, elapsed_share, limits}`;
 * `limits` has `points_limit`, `time_sec_limit` and `traffic_bytes_limit` as far as they are enforced, each `{limit,
 * usage, used_share, reached, whole_period, last_24_hours}`. Shares are from 0, rounded down to four digits:
 * `used_share` is 1 or more where the limit is `reached`. Two paces: the mean since the period began, and that of the
 * running hour and the 23 before it; each `{per_day, reached_at}`, with when the limit will be reached if it goes on
 * like that (UTC), or null where the period ends before, nothing is used or the limit is reached already. 404
 * `no_billing_period`.
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
    throw new Problem('forbidden', { detail: 'The usage of others is seen by whoever pays for it.' });
  }
  const filter = { application_id, account_id: input.account_id, api_version };
  const rows = await findUsageRows(query, { account_id, view, range, group_by, filter, limit: maxRows + 1 });
  if (rows.length > maxRows) throw tooManyRows(maxRows);
  const namesOf = await findNames(query, group_by, groupIds(rows), viewer);
  return usageSeries({ account_id, payer_id, view, group_by, range }, rows, namesOf);
}

function tooManyRows(maxRows: number): Problem {
  const message = `would give more than ${String(maxRows)} figures: ask for a shorter range, longer intervals or a filter`;
  return invalidFields([{ field: 'group_by', message }]);
}

function sendCsv(res: Response, series: UsageSeries): void {
  res
    .attachment(csvFileName(series))
    .type('text/csv; charset=utf-8; header=present')
    .send(Buffer.from(usageCsv(series), 'utf8'));
}
