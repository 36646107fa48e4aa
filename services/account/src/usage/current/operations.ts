import { z } from 'zod';
import { usageResponseSchema } from '@tollgate/contracts/usage-response';
import { operation, Reply } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { Problem, invalidToken } from '@tollgate/http/problem';
import { token } from '../../access/authentication/bearer.ts';
import { findPayerPeriod, findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import { idQueryField } from '../../http/input/fields.ts';
import type { Query } from '../../platform/database/query.ts';
import { usageAnswer } from './usage-answer.ts';

/** Other parameters are ignored, as they were before there was one. */
const usageSchema = z.object({
  period_id: idQueryField.optional().meta({
    description: 'A billing period of the payer that has started. Default: the current or most recent one.',
  }),
});

export const tokenUsage = {
  title: 'Usage',
  description: 'The limits of the plan and the usage of the current billing period.',
  operations: [
    operation('GET /api/usage', {
      operationId: 'getUsage',
      summary: "Get the billing period that the caller's calls are charged to",
      description:
        'Returns limits, usage and status. For a member of a team this is the manager’s period, and `payer_id` is ' +
        'the manager. If no period is active, the most recent one is returned. Blocked and expired accounts get ' +
        'this response, too. API v1 and v2 share one pool of points. With `period_id`, the response is about that ' +
        'period of the same payer; `GET /api/console/periods` lists them.',
      caller: token,
      query: usageSchema,
      answers: {
        200: {
          description: 'The billing period.',
          schema: usageResponseSchema,
          headers: { 'Cache-Control': '`no-store`.' },
          example: {
            account_id: 42,
            payer_id: 7,
            status: 'active',
            billing_period: {
              started_at: '2026-07-01T00:00:00Z',
              ended_at: '2026-07-31T23:59:59Z',
              plan_name: 'Team',
              product: { name: 'Data API' },
              limits: {
                points_limit: 1_000_000,
                rate_limit: 600,
                session_limit: 20,
                subscription_limit: 10,
                time_sec_limit: 0,
                traffic_bytes_limit: 0,
                team_slots_limit: 5,
              },
              usage: {
                points_usage: 12_345,
                requests_usage: 4_321,
                time_sec_usage: 60,
                traffic_bytes_usage: 9_876_543,
              },
              description: {
                points_limit: 1_000_000,
                rate_limit: 600,
                session_limit: 20,
                subscription_limit: 10,
                team_slots_limit: 5,
                support: 'e-mail',
              },
            },
          },
        },
      },
      problems: ['forbidden', 'no_billing_period', 'not_found'],
      handle: async ({ query }: { query: Query }, { by: { account_id }, query: { period_id } }) => {
        const payerPeriods = await (period_id === undefined
          ? findPayerPeriods(query, account_id)
          : findPayerPeriod(query, account_id, period_id));
        // A token outlives its account if this database was reset and auth's Redis was kept.
        if (payerPeriods === undefined) throw invalidToken();
        const answer = usageAnswer(payerPeriods, payerPeriods.now);
        if (answer === undefined)
          throw new Problem(period_id === undefined ? 'no_billing_period' : 'not_found');
        return new Reply(200, answer, { 'cache-control': 'no-store' });
      },
    }),
  ],
} satisfies Chapter;
