import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { cutPage, lookAhead, pageFields, queryOf } from '../../../http/input/page.ts';
import type { Query } from '../../../platform/database/query.ts';
import { listOwnPeriods, ownPeriodAnswer, startSecond } from './list.ts';

export const ownPeriodsSchema = z.strictObject(pageFields);

/**
 * `GET /api/console/periods?limit=50&cursor=…`: 200 `{periods, next_cursor}`, the account's own billing periods that
 * have started, newest first. A team's manager sees all usage of these periods; a member doesn't see the manager's
 * (ADR 0026). 400 `invalid_request`; 503 while Postgres is unavailable.
 */
export function ownPeriodsEndpoint(
  query: Query,
  accountOf: (req: Request, res: Response) => number,
): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, ownPeriodsSchema);
    const now = new Date();
    const found = await listOwnPeriods(query, accountOf(req, res), lookAhead(wanted), now);
    const { rows, next_cursor } = cutPage(found, wanted, startSecond);
    res.json({ periods: rows.map((period) => ownPeriodAnswer(period, now)), next_cursor });
  };
}
