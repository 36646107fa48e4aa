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
 * Compares totals with hourly rows. A difference is `{period_id, totals, hourly}`; `totals` and `hourly` are
 * `{points, requests, time_ms, traffic_bytes}`.
 */

const PAGE = 100;

const checkSchema = z.strictObject({
  period_id: idField.optional(),
  cursor: z
    .string('must be the next_cursor of the previous response')
    .regex(/^[1-9]\d{0,14}$/, 'must be the next_cursor of the previous response')
    .transform(Number)
    .optional(),
});

const rebuildSchema = z.strictObject({ period_id: idField });

/**
 * `POST /private/usage-checks` with `{period_id}`, or with `{cursor?}` for 100 periods at a time, newest first: 200
 * `{checked, beyond_retention, differences, out_of_range, recent_gaps, next_cursor}`. Differences exist only if
 * something else has written to the tables. `beyond_retention` counts periods that cannot be checked because hourly
 * rows were dropped (USAGE_RETENTION_MONTHS). `out_of_range` lists periods with a counter above 2^53 - 1, which is
 * shown as that number. `recent_gaps` counts the gaps found in the last 30 days (GET /private/usage-gaps).
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
 * `POST /private/usage-rebuilds` with `{period_id}`: 200 `{period_id, totals_before, totals, changed}`. Sets the
 * totals to the sums of the hourly rows; live counters follow within a second. 409 `usage_rows_dropped` if hourly
 * rows of the period were dropped.
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
