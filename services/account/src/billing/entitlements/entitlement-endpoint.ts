import type { RequestHandler } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { findPayerPeriods } from '../periods/payer-periods.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import type { Query } from '../../platform/database/query.ts';
import { entitlementAnswer } from './entitlement-answer.ts';
import type { KeptAnswers } from './kept-answers.ts';

const paramsSchema = z.object({ account_id: idParameter });

type EntitlementParts = { query: Query; keptAnswers: Pick<KeptAnswers, 'begin' | 'keep'> };

/**
 * `GET /private/entitlements/{account_id}`: 200 Entitlement; 404 `not_found`; 503 while Postgres is unavailable. An
 * answer that lets calls pass is kept in Redis, where gateways read it first (docs/design/entitlement.md); without
 * Redis it is only given.
 */
export function entitlementEndpoint({ query, keptAnswers }: EntitlementParts): RequestHandler {
  return async (req, res) => {
    const params = paramsSchema.safeParse(req.params);
    if (!params.success) throw new Problem('not_found');
    const { account_id } = params.data;
    const generation = await keptAnswers.begin(account_id).catch(() => undefined);
    const askedMs = performance.now();
    const payerPeriods = await findPayerPeriods(query, account_id);
    if (payerPeriods === undefined) throw new Problem('not_found');
    const answer = entitlementAnswer(payerPeriods);
    res.json(answer);
    if (generation !== undefined)
      await keptAnswers.keep(answer, { generation, askedMs }).catch(() => undefined);
  };
}
