import { z } from 'zod';
import { entitlementSchema } from '@tollgate/contracts/entitlement';
import type { Budgets, Credits, LimitedApplication } from '@tollgate/contracts/entitlement';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { idParameter } from '../../http/input/id-parameter.ts';
import { service } from '../../platform/audit/private-callers.ts';
import type { Query } from '../../platform/database/query.ts';
import type { UsageLanes } from '../../platform/usage-lanes.ts';
import { findBudgets } from '../budgets/budgets.ts';
import { findCredits } from '../credits/answer.ts';
import { findPayerPeriods } from '../periods/payer-periods.ts';
import type { PayerPeriods } from '../periods/payer-periods.ts';
import { endOfUse, pickPeriod } from '../periods/period-rules.ts';
import { entitlementAnswer } from './entitlement-answer.ts';
import type { KeptAnswers } from './kept-answers.ts';
import { findLimitedApplications } from './limited-applications.ts';

/** Most payers have none, and need no second statement. */
async function creditsOf(
  query: Query,
  { payer_id, periods, has_credits, now }: PayerPeriods,
): Promise<Credits | undefined> {
  const period = pickPeriod(periods, now);
  if (!has_credits || period === undefined) return undefined;
  return findCredits(query, payer_id, { ...period, endOfUse: endOfUse(period) }, now);
}

/** As with credits. */
async function budgetsOf(
  query: Query,
  { account_id, has_budgets }: PayerPeriods,
): Promise<Budgets | undefined> {
  return has_budgets ? findBudgets(query, account_id) : undefined;
}

/** As with credits. */
async function limitedApplicationsOf(
  query: Query,
  { account_id, has_document_limits }: PayerPeriods,
): Promise<LimitedApplication[]> {
  return has_document_limits ? findLimitedApplications(query, account_id) : [];
}

type Needs = {
  query: Query;
  usageLanes: UsageLanes;
  keptAnswers: Pick<KeptAnswers, 'begin' | 'keep'>;
  /** Where points can be bought; null without payments. */
  buyUrl: string | null;
};

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
      handle: async ({ query, usageLanes, keptAnswers, buyUrl }: Needs, { params: { account_id } }) => {
        const generation = await keptAnswers.begin(account_id).catch(() => undefined);
        const askedMs = performance.now();
        const payerPeriods = await findPayerPeriods(query, account_id);
        if (payerPeriods === undefined) throw new Problem('not_found');
        const credits = await creditsOf(query, payerPeriods);
        const budgets = await budgetsOf(query, payerPeriods);
        const answer = entitlementAnswer(payerPeriods, {
          lanes: await usageLanes(),
          credits,
          budgets,
          limitedApplications: await limitedApplicationsOf(query, payerPeriods),
          buyUrl,
        });
        // The response needn't wait for Redis.
        if (generation !== undefined)
          void keptAnswers.keep(answer, { generation, askedMs }).catch(() => undefined);
        return answer;
      },
    }),
  ],
} satisfies Chapter;
