import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { findPayerPeriods } from '../periods/payer-periods.ts';
import type { Query } from '../../platform/database/query.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';

/**
 * Express middleware behind requireSession: who is blocked, or whose payer is, sees everything and makes nothing that
 * opens doors. A block that comes just after it is no loophole: every call is held to it anew.
 *
 * @throws {Problem} account_blocked
 */
export function refuseBlocked(query: Query): RequestHandler {
  return async (_req, res, next) => {
    const payerPeriods = await findPayerPeriods(query, signedIn(res).account_id, new Date());
    if (payerPeriods?.account_blocked !== false) throw new Problem('account_blocked');
    next();
  };
}
