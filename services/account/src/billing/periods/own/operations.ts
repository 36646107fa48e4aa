import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { cutPage, lookAhead, pageFields } from '../../../http/input/page.ts';
import { billingSession } from '../../../identity/sessions/require-session.ts';
import type { Query } from '../../../platform/database/query.ts';
import { listOwnPeriods, ownPeriodAnswer, startSecond } from './list.ts';
import { ownPeriodsAnswerSchema } from './answers.ts';

export const ownerPeriods = {
  title: 'Billing periods',
  description: 'Your current and past billing periods.',
  operations: [
    operation('GET /api/console/periods', {
      operationId: 'listPeriods',
      summary: 'List your billing periods',
      description:
        'Returns the periods of your own account that have started, newest first, with their limits and all usage ' +
        'charged to them. Those of your team’s manager are shown to members with the role `billing` only, in place of their own.',
      caller: billingSession,
      query: z.strictObject(pageFields),
      answers: { 200: { description: 'A page of billing periods.', schema: ownPeriodsAnswerSchema } },
      // A team's manager sees all usage of these periods, as do members who manage the billing (docs/design/billing.md).
      handle: async ({ usageQuery }: { usageQuery: Query }, { by, query }) => {
        const now = new Date();
        const found = await listOwnPeriods(usageQuery, by.account_id, lookAhead(query), now);
        const { rows, next_cursor } = cutPage(found, query, startSecond);
        return { periods: rows.map((period) => ownPeriodAnswer(period, now)), next_cursor };
      },
    }),
  ],
} satisfies Chapter;
