import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import type { Query } from '../../platform/database/query.ts';
import { session } from '../sessions/require-session.ts';
import { activityAnswerSchema } from './answers.ts';
import { ownEntry } from './entry.ts';
import { ACTIVITY_KINDS } from './kinds.ts';
import { listOwnEntries } from './store.ts';

export const ownerActivity = {
  title: 'Activity',
  description: 'The audit trail of an account.',
  operations: [
    operation('GET /api/console/activity', {
      operationId: 'listActivity',
      summary: 'List what was done in the account, newest first',
      description: 'Entries are kept as long as the account exists, and cannot be changed.',
      caller: session,
      query: z.strictObject({
        ...pageFields,
        kind: z.enum(ACTIVITY_KINDS, `must be one of ${ACTIVITY_KINDS.join(', ')}`).optional(),
      }),
      answers: { 200: { description: 'A page of entries.', schema: activityAnswerSchema } },
      handle: async ({ usageQuery }: { usageQuery: Query }, { by: { account_id }, query }) => {
        const wanted = { ...lookAhead(query), kind: query.kind };
        const found = await listOwnEntries(usageQuery, account_id, wanted);
        const { rows, next_cursor } = cutPage(found, query, ({ audit_id }) => audit_id);
        return { activity: rows.map((entry) => ownEntry(entry, account_id)), next_cursor };
      },
    }),
  ],
} satisfies Chapter;
