import type { RequestHandler } from 'express';
import type { Introspector } from '@tollgate/introspection';
import type { AccessLog } from '@tollgate/log/access-log';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import { invalidToken } from '@tollgate/http/problem';
import { authenticateBearer } from '../../access/authentication/bearer.ts';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import type { Query } from '../../platform/database/query.ts';
import { usageAnswer } from './usage-answer.ts';

/**
 * `GET /api/usage` (source specification, 4.2): 200 with a UsageResponse; 401, 403 by RFC 6750; 404
 * `no_billing_period`; 503 while auth or Postgres is unavailable.
 */
export function usageEndpoint(
  introspect: Introspector['introspect'],
  query: Query,
  accessLog: Pick<AccessLog, 'note'> | null,
): RequestHandler {
  return async (req, res) => {
    const token = await authenticateBearer(introspect, req, res.get(REQUEST_ID_HEADER));
    const { account_id, application_id } = token;
    accessLog?.note(req, { account_id, application_id });
    const payerPeriods = await findPayerPeriods(query, account_id);
    // A token outlives its account if this database was reset and auth's Redis was kept.
    if (payerPeriods === undefined) throw invalidToken();
    res.set('cache-control', 'no-store').json(usageAnswer(payerPeriods, payerPeriods.now));
  };
}
