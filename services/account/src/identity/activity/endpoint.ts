import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { cutPage, lookAhead, pageFields, queryOf } from '../../http/input/page.ts';
import type { Query } from '../../platform/database/query.ts';
import { ownEntry } from './entry.ts';
import { ACTIVITY_KINDS } from './kinds.ts';
import { listOwnEntries } from './store.ts';

export const activitySchema = z.strictObject({
  ...pageFields,
  kind: z.enum(ACTIVITY_KINDS, `must be one of ${ACTIVITY_KINDS.join(', ')}`).optional(),
});

/**
 * `GET /api/console/activity?kind=&limit=50&cursor=…`: 200 `{activity, next_cursor}`, the account's own audit trail,
 * newest first. 400 `invalid_request`; 503 while Postgres is unavailable.
 */
export function activityEndpoint(
  query: Query,
  accountOf: (req: Request, res: Response) => number,
): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, activitySchema);
    const accountId = accountOf(req, res);
    const found = await listOwnEntries(query, accountId, { ...lookAhead(wanted), kind: wanted.kind });
    const { rows, next_cursor } = cutPage(found, wanted, ({ audit_id }) => audit_id);
    res.json({ activity: rows.map((entry) => ownEntry(entry, accountId)), next_cursor });
  };
}
