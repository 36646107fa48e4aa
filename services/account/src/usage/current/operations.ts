import { usageResponseSchema } from '@tollgate/contracts/usage-response';
import { operation, Reply } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { invalidToken } from '@tollgate/http/problem';
import { token } from '../../access/authentication/bearer.ts';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import type { Query } from '../../platform/database/query.ts';
import { usageAnswer } from './usage-answer.ts';

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
        'this response, too. API v1 and v2 share one pool of points.',
      caller: token,
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
      problems: ['forbidden', 'no_billing_period'],
      handle: async ({ query }: { query: Query }, { by: { account_id } }) => {
        const payerPeriods = await findPayerPeriods(query, account_id);
        // A token outlives its account if this database was reset and auth's Redis was kept.
        if (payerPeriods === undefined) throw invalidToken();
        return new Reply(200, usageAnswer(payerPeriods, payerPeriods.now), { 'cache-control': 'no-store' });
      },
    }),
  ],
} satisfies Chapter;
