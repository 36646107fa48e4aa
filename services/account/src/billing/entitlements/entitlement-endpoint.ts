import type { RequestHandler } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { findPayerPeriods } from '../periods/payer-periods.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import type { Query } from '../../platform/database/query.ts';
import { entitlementAnswer } from './entitlement-answer.ts';

const paramsSchema = z.object({ account_id: idParameter });

/** `GET /private/entitlements/{account_id}`: 200 Entitlement; 404 `not_found`; 503 while Postgres is unavailable. */
export function entitlementEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const params = paramsSchema.safeParse(req.params);
    const payerPeriods = params.success ? await findPayerPeriods(query, params.data.account_id) : undefined;
    if (payerPeriods === undefined) throw new Problem('not_found');
    res.json(entitlementAnswer(payerPeriods));
  };
}
