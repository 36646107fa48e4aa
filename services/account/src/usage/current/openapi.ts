import { usageResponseSchema } from '@tollgate/contracts/usage-response';
import type { ApiChapter } from '../../http/operation.ts';

export const usageApi: ApiChapter = {
  title: 'Usage',
  description: 'The limits of the plan and the usage of the current billing period.',
  operations: {
    'GET /api/usage': {
      operationId: 'getUsage',
      summary: "Get the billing period that the caller's calls are charged to",
      description:
        'Returns limits, usage and status. For a member of a team this is the manager’s period, and `payer_id` is ' +
        'the manager. If no period is active, the most recent one is returned. Blocked and expired accounts get ' +
        'this response, too. API v1 and v2 share one pool of points.',
      caller: 'token',
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
    },
  },
};
