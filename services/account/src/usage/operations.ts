import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import type { Request, Response } from 'express';
import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { findPayerPeriods } from '../billing/periods/payer-periods.ts';
import { ofAccount } from '../identity/accounts/operations.ts';
import { billedAccountOf, session } from '../identity/sessions/require-session.ts';
import type { SignedIn } from '../identity/sessions/require-session.ts';
import { operator } from '../platform/audit/private-callers.ts';
import type { Query } from '../platform/database/query.ts';
import { FEED_HEADERS } from './live/feed.ts';
import type { LiveFeeds } from './live/feeds.ts';
import { isoSeconds } from '../http/iso-seconds.ts';
import { findNames } from './views/names.ts';
import type { Viewer } from './views/names.ts';
import { paceAnswer } from './views/pace/pace-answer.ts';
import { csvFileName, usageCsv } from './views/series/csv.ts';
import { groupIds, usageSeries, usageSeriesAnswer } from './views/series/series.ts';
import type { UsageSeries } from './views/series/series.ts';
import { periodRange } from './views/series/range.ts';
import { findUsageRows, findUsedPeriod } from './views/store.ts';
import type { UsedPeriod } from './views/store.ts';
import { paceAnswerSchema, usageViewAnswerSchema } from './views/answers.ts';
import { usageViewInput, usageViewSchema } from './views/input.ts';
import type { UsageViewInput } from './views/input.ts';

/** Each row is a group in a bucket. */
const MAX_ROWS = { json: 10_000, csv: 50_000 } as const;

/** Of its own pool, with a longer timeout. */
type Needs = { usageQuery: Query };

export const ownerUsage = {
  title: 'Usage over time',
  description:
    'When, by which applications and by whom points are used, and how long they will last. Days and hours are in UTC.',
  operations: [
    operation('GET /api/console/usage', {
      operationId: 'getUsageOverTime',
      summary: 'Get usage by day or hour, as JSON or CSV',
      description:
        'Covers the last 14 months, or a billing period within them: with `period_id`, the total is what the period ' +
        'was charged, and its first and last bucket have only its own part of a day or hour that two periods share. The view `billed` contains all usage charged to your billing periods, by any ' +
        'member; `own` contains your usage, no matter which account pays for it. The default is `own` for members of a team who ' +
        'don’t manage its billing, and `billed` otherwise. Hourly ranges have at most 31 days, those of a billing period 40. Usage outside the view counts as zero. JSON ' +
        'responses have at most 10,000 groups in buckets, CSV 50,000. The CSV has one line for each bucket or, if ' +
        'grouped, for each group in a bucket; text that a spreadsheet would interpret as a formula starts with an ' +
        'apostrophe.',
      caller: session,
      query: usageViewSchema,
      answers: {
        200: {
          description: 'The usage. `format` selects JSON or CSV; without it, `Accept` does.',
          schema: usageViewAnswerSchema,
          furtherSchemas: { 'text/csv': z.string() },
        },
      },
      problems: ['forbidden'],
      readQuery: (req) => usageViewInput(req, new Date()),
      respond: ({ usageQuery }: Needs, call) =>
        sendUsage(usageQuery, { account_id: billedOrOwn(call.by, call.query), isOperator: false }, call),
    }),
    operation('GET /api/console/usage/pace', {
      operationId: 'getPace',
      summary: 'Get the pace at which limits are being used',
      description:
        'Returns the used share of each limit, the elapsed share of the billing period, and when each limit will be ' +
        'reached at the average pace of the period and of the last 24 hours.',
      caller: session,
      answers: { 200: { description: 'The pace.', schema: paceAnswerSchema } },
      problems: ['no_billing_period'],
      handle: ({ usageQuery }: Needs, { by }) => paceAnswer(usageQuery, by.account_id, new Date()),
    }),
    operation('GET /api/console/usage/live', {
      operationId: 'followPace',
      summary: 'Follow the pace as server-sent events',
      description:
        'Events: `pace` has the response of `GET /api/console/usage/pace` as its data, at once and after each change, ' +
        'at most about twice a second. `no_billing_period` replaces it while there is no billing period. `paused`: ' +
        'figures are unavailable for now and follow later. `session_ended` is the last event. Reconnect when the ' +
        'stream ends. A session can have four feeds.',
      caller: session,
      answers: {
        200: {
          description: 'The events (HTML, section 9.2).',
          schema: z.string(),
          contentTypes: ['text/event-stream'],
        },
      },
      problems: ['too_many_requests'],
      // While the session lasts.
      respond: (
        { liveFeeds }: { liveFeeds: Pick<LiveFeeds, 'open'> },
        {
          by: {
            account_id,
            session: { session_id },
          },
          req,
          res,
        },
      ) => {
        if (req.method === 'HEAD') res.set(FEED_HEADERS).end();
        else liveFeeds.open({ account_id, session_id }, res);
      },
    }),
  ],
} satisfies Chapter;

export const operatorUsage = {
  title: 'Usage over time',
  description: 'Usage of one account by day or hour of UTC.',
  operations: [
    operation('GET /private/accounts/{account_id}/usage', {
      operationId: 'getUsageOverTime',
      summary: 'Get usage by day or hour, as JSON or CSV',
      caller: operator,
      roles: ['viewer'],
      params: ofAccount,
      query: usageViewSchema,
      answers: {
        200: {
          description: 'The usage. `format` selects JSON or CSV; without it, `Accept` does.',
          schema: usageViewAnswerSchema,
          furtherSchemas: { 'text/csv': z.string() },
        },
      },
      problems: ['forbidden'],
      readQuery: (req) => usageViewInput(req, new Date()),
      respond: ({ usageQuery }: Needs, call) =>
        sendUsage(usageQuery, { account_id: call.params.account_id, isOperator: true }, call),
    }),
  ],
} satisfies Chapter;

/** A member who manages the team's billing sees what its manager sees, and on request their own usage. */
function billedOrOwn(by: SignedIn, { view }: Pick<UsageViewInput, 'view'>): number {
  return view === 'own' ? by.account_id : billedAccountOf(by);
}

/** Usage over time as JSON or CSV, for the owner and for operators. */
async function sendUsage(
  query: Query,
  viewer: Viewer,
  { query: input, req, res }: { query: UsageViewInput; req: Request; res: Response },
): Promise<void> {
  res.vary('accept');
  const format = input.format ?? (req.accepts(['json', 'text/csv']) === 'text/csv' ? 'csv' : 'json');
  const series = await findSeries(query, { viewer, input, maxRows: MAX_ROWS[format] });
  if (format === 'csv') sendCsv(res, series);
  else res.json(usageSeriesAnswer(series));
}

type Asked = { viewer: Viewer; input: UsageViewInput; maxRows: number };

async function findSeries(query: Query, { viewer, input, maxRows }: Asked): Promise<UsageSeries> {
  const { account_id } = viewer;
  const { group_by, application_id, api_version } = input;
  const now = new Date();
  const payerPeriods = await findPayerPeriods(query, account_id, now);
  if (payerPeriods === undefined) throw new Problem('not_found');
  const { payer_id } = payerPeriods;
  const period =
    input.period_id === undefined
      ? null
      : await findUsedPeriod(query, input.period_id, [account_id, payer_id], now);
  const isPayer = (period?.account_id ?? payer_id) === account_id;
  const view = input.view ?? (isPayer ? 'billed' : 'own');
  if (period === undefined || (period !== null && view === 'billed' && !isPayer)) {
    throw invalidFields([{ field: 'period_id', message: 'must be the id of one of your billing periods' }]);
  }
  if (view === 'own' && input.account_id !== undefined && input.account_id !== account_id) {
    throw new Problem('forbidden', { detail: 'Only the payer can see the usage of other accounts.' });
  }
  const filter = { application_id, account_id: input.account_id, api_version };
  const range = period === null ? input.range : periodRange(period, input.range.interval, now);
  const rows = await findUsageRows(query, {
    account_id,
    view,
    range,
    period_id: period?.period_id,
    group_by,
    filter,
    limit: maxRows + 1,
  });
  if (rows.length > maxRows) throw tooManyRows(maxRows);
  const namesOf = await findNames(query, group_by, groupIds(rows), viewer);
  const billing_period = period === null ? null : periodHead(period);
  return usageSeries({ account_id, payer_id, view, group_by, range, billing_period }, rows, namesOf);
}

function periodHead({ period_id, started_at, ended_at }: UsedPeriod) {
  return { period_id, started_at: isoSeconds(started_at), ended_at: isoSeconds(ended_at) };
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
