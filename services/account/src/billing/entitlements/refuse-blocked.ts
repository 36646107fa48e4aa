import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { findPayerPeriods } from '../periods/payer-periods.ts';
import type { Query } from '../../platform/database/query.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';

/**
 * Behind requireSession: blocked accounts, and members of a blocked payer, cannot create credentials. A block that
 * comes just afterwards is enforced on every call. @throws {Problem} account_blocked
 */
export function refuseBlocked(query: Query): RequestHandler {
  return async (_req, res, next) => {
    const payerPeriods = await findPayerPeriods(query, signedIn(res).account_id, new Date());
    if (payerPeriods?.account_blocked !== false) throw new Problem('account_blocked');
    next();
  };
}
