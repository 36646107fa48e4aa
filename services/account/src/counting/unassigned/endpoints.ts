import type { RequestHandler } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operatorOf } from '../../platform/audit/operator-actor.ts';
import { idOf } from '../../http/input/id-parameter.ts';
import type { Query } from '../../platform/database/query.ts';
import { booleanQueryField, idField } from '../../http/input/fields.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { cutPage, lookAhead, pageFields, queryOf } from '../../http/input/page.ts';
import type { createCountUnassigned } from './count.ts';
import { REASONS, eventsOf, explain } from './explain.ts';
import type { UnassignedRow } from './explain.ts';
import { findUnassigned, listUnassigned } from './store.ts';

/**
 * Unassigned usage, for operators. A row is `unassigned_id, recorded_at, reason, explanation, stream, entry_id,
 * event_index, events, counted_at, counted_period_id`; a row whose `events` is null is unreadable and cannot be
 * counted.
 */

const listSchema = z.strictObject({
  ...pageFields,
  reason: z.enum(REASONS, `must be one of ${REASONS.join(', ')}`).optional(),
  counted: booleanQueryField.optional(),
});

const countSchema = z.strictObject({ period_id: idField.optional() });

/** `GET /private/usage-unassigned?reason=&counted=&limit=50&cursor=…`: 200 `{unassigned, next_cursor}`, newest first. */
export function unassignedListEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const { reason, counted, ...page } = queryOf(req, listSchema);
    const found = await listUnassigned(query, { reason, counted }, lookAhead(page));
    const { rows, next_cursor } = cutPage(found, page, ({ unassigned_id }) => unassigned_id);
    res.json({ unassigned: rows.map(unassignedAnswer), next_cursor });
  };
}

/** `GET /private/usage-unassigned/{unassigned_id}`: 200 with the row and `raw`, its original text; 404. */
export function unassignedEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const row = await findUnassigned(query, idOf(req, 'unassigned_id'));
    if (row === undefined) throw new Problem('not_found');
    res.json({ ...unassignedAnswer(row), raw: row.raw });
  };
}

/**
 * `POST /private/usage-unassigned/{unassigned_id}/count` with `{period_id?}`: 200 with the row and `changed`, false
 * if it was counted before. Without `period_id` the event's period, if it is the payer's, else the one at its time.
 * 404, also `no_billing_period`; 409 `usage_not_readable`, `usage_total_too_large`.
 */
export function countUnassignedEndpoint(count: ReturnType<typeof createCountUnassigned>): RequestHandler {
  return async (req, res) => {
    const { period_id } = bodyOf(req, countSchema);
    const { row, changed } = await count(idOf(req, 'unassigned_id'), period_id, operatorOf(req, res));
    res.json({ ...unassignedAnswer(row), changed });
  };
}

function unassignedAnswer(row: UnassignedRow) {
  const { raw: _raw, counted_at, counted_period_id, ...whole } = row;
  return { ...whole, explanation: explain(row.reason), events: eventsOf(row), counted_at, counted_period_id };
}
