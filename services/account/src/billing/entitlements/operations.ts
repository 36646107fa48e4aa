import { z } from 'zod';
import { entitlementSchema } from '@tollgate/contracts/entitlement';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { idParameter } from '../../http/input/id-parameter.ts';
import { service } from '../../platform/audit/private-callers.ts';
import type { Query } from '../../platform/database/query.ts';
import { findPayerPeriods } from '../periods/payer-periods.ts';
import { entitlementAnswer } from './entitlement-answer.ts';
import type { KeptAnswers } from './kept-answers.ts';

type Needs = { query: Query; keptAnswers: Pick<KeptAnswers, 'begin' | 'keep'> };

export const serviceEntitlements = {
  title: 'Entitlements',
  description: 'For gateways: whether calls of an account are admitted, and within which limits.',
  operations: [
    operation('GET /private/entitlements/{account_id}', {
      operationId: 'getEntitlement',
      summary: "Get an account's entitlement",
      description:
        'An answer that lets calls pass is kept in Redis, where gateways read it first; without Redis it is ' +
        'only given.',
      caller: service,
      params: z.object({ account_id: idParameter }),
      answers: { 200: { description: 'The entitlement.', schema: entitlementSchema } },
      handle: async ({ query, keptAnswers }: Needs, { params: { account_id } }) => {
        const generation = await keptAnswers.begin(account_id).catch(() => undefined);
        const askedMs = performance.now();
        const payerPeriods = await findPayerPeriods(query, account_id);
        if (payerPeriods === undefined) throw new Problem('not_found');
        const answer = entitlementAnswer(payerPeriods);
        // The response needn't wait for Redis.
        if (generation !== undefined)
          void keptAnswers.keep(answer, { generation, askedMs }).catch(() => undefined);
        return answer;
      },
    }),
  ],
} satisfies Chapter;
