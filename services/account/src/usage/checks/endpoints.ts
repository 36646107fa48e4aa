import type { RequestHandler } from 'express';
import { z } from 'zod';
import { operatorOf } from '../../platform/audit/operator-actor.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { idField } from '../../http/input/fields.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { cutPage, lookAhead } from '../../http/input/page.ts';
import { countRecentGaps } from '../gaps/endpoint.ts';
import { checkPeriod, checkPeriods, isEqual, rebuildTotals } from './usage-checks.ts';
import type { Checked } from './usage-checks.ts';

/**
 * The operator API by which the counters prove themselves, on the private listener. A difference is `period_id,
 * totals, hourly`, both `{points, requests, time_ms, traffic_bytes}`.
 */

const PAGE = 100;

const checkSchema = z.strictObject({
  period_id: idField.optional(),
  cursor: z
    .string('must be the next_cursor of the answer before')
    .regex(/^[1-9]\d{0,14}$/, 'must be the next_cursor of the answer before')
    .transform(Number)
    .optional(),
});

const rebuildSchema = z.strictObject({ period_id: idField });

/**
 * `POST /private/usage-checks` with `{period_id}`, or with `{cursor?}` for 100 periods at a time, newest first: 200
 * `{checked, beyond_retention, differences, out_of_range, recent_gaps, next_cursor}`. There are never differences, unless something else has
 * written to the tables. Periods some of whose hourly rows have been dropped (USAGE_RETENTION_MONTHS) can't be
 * checked any more; `beyond_retention` is how many those are. `out_of_range`
 * are periods with a counter above 2^53 - 1, which is shown as that number; `recent_gaps` is how many gaps in the
 * usage streams were seen in the last thirty days (GET /private/usage-gaps).
 */
export function usageCheckEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const { period_id, cursor } = bodyOf(req, checkSchema);
    const page = { limit: PAGE, cursor };
    const found =
      period_id === undefined
        ? await checkPeriods(query, lookAhead(page))
        : [await checkPeriod(query, period_id)];
    const { rows, next_cursor } = cutPage(found, page, (checked) => checked.period_id);
    const whole = rows.filter(({ beyond_retention }) => !beyond_retention);
    res.json({
      checked: whole.length,
      beyond_retention: rows.length - whole.length,
      differences: whole
        .filter(differs)
        .map(({ period_id, totals, hourly }) => ({ period_id, totals, hourly })),
      out_of_range: rows.filter(({ out_of_range }) => out_of_range).map(({ period_id }) => period_id),
      recent_gaps: await countRecentGaps(query),
      next_cursor,
    });
  };
}

/**
 * `POST /private/usage-rebuilds` with `{period_id}`: 200 `{period_id, totals_before, totals, changed}`. The totals
 * are the sums of the hourly rows, whatever they were; usage that comes meanwhile is counted before or after, and the
 * gateways' live counters follow within a second. 409 `usage_rows_dropped` where the totals are all there is left.
 */
export function usageRebuildEndpoint(transact: Transact, onTotalsChanged: () => void): RequestHandler {
  return async (req, res) => {
    const { period_id } = bodyOf(req, rebuildSchema);
    const found = await transact((inside) => rebuildTotals(inside, period_id, operatorOf(req, res)));
    onTotalsChanged();
    res.json({ period_id, totals_before: found.totals, totals: found.hourly, changed: differs(found) });
  };
}

const differs = (checked: Checked) => !isEqual(checked);
