import type { RequestHandler } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { idOf } from '../http/input/id-parameter.ts';
import type { Query } from '../platform/database/query.ts';
import { idQueryField } from '../http/input/fields.ts';
import { cutPage, lookAhead, pageFields, queryOf } from '../http/input/page.ts';
import { fromField, toField } from '../http/input/time-range.ts';
import { findOperatedAccount } from '../identity/accounts/operator-store.ts';
import { findRefusals, listRefusals } from './store.ts';

/**
 * Refused and failed data calls, for operators (ADR 0045). A record is `refused_call_id, at, request_id, kind, code,
 * status, account_id, payer_id, application_id, client_id, address, api_version, duration_ms, detail,
 * unrecorded_before` (packages/contracts/src/refused-call.ts).
 */

const requestIdSchema = z.string().regex(/^[0-9a-f]{32}$/);

/**
 * `GET /private/calls/{request_id}`: 200 `{request_id, records}`, oldest first; operations of a WebSocket share its
 * request id. 404 without a record: the call succeeded, was not recorded (`unrecorded_before`), or is older than
 * REFUSED_CALLS_RETENTION_DAYS.
 */
export function refusedCallEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const requestId = requestIdSchema.safeParse(req.params['request_id']);
    const records = requestId.success ? await findRefusals(query, requestId.data) : [];
    if (records.length === 0) throw new Problem('not_found');
    res.json({ request_id: requestId.data, records });
  };
}

const listSchema = z.strictObject({
  ...pageFields,
  code: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a code')
    .optional(),
  application_id: idQueryField.optional(),
  from: fromField('Start of the range, inclusive.'),
  to: toField('End of the range, exclusive; a date includes its whole day.'),
});

/**
 * `GET /private/accounts/{account_id}/refusals?code=&application_id=&from=&to=&limit=50&cursor=…`: 200 `{refusals,
 * next_cursor}`, newest first. Includes refused tokens that name one of its applications.
 */
export function refusalsEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const accountId = idOf(req, 'account_id');
    const { limit, cursor, ...filters } = queryOf(req, listSchema);
    if ((await findOperatedAccount(query, accountId)) === undefined) throw new Problem('not_found');
    const found = await listRefusals(query, accountId, filters, lookAhead({ limit, cursor }));
    const { rows, next_cursor } = cutPage(found, { limit }, ({ refused_call_id }) => refused_call_id);
    res.json({ refusals: rows, next_cursor });
  };
}
