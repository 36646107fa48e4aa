import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { session } from '../sessions/require-session.ts';
import { findViewSetting, setViewsAllowed } from './store.ts';

const settingSchema = z
  .object({
    is_allowed: z.boolean().meta({ description: 'What this account has chosen; true at first.' }),
    is_allowed_by_manager: z
      .boolean()
      .meta({ description: "What the manager of this account's team has chosen; true without a team." }),
  })
  .meta({ id: 'OperatorViewSetting' });

const ANSWER = { 200: { description: 'The setting.', schema: settingSchema } };

export const ownerOperatorViews = {
  title: 'Views by support',
  description:
    'Support can see what this console shows you, read only and for 15 minutes, unless you or the manager of your team forbid it. Each view is in your activity. An admin can override it with a reason, which you get by mail.',
  operations: [
    operation('GET /api/console/operator-views', {
      operationId: 'getOperatorViewSetting',
      summary: 'Get whether support may view this account',
      caller: session,
      answers: ANSWER,
      handle: async ({ query }: { query: Query }, { by: { account_id } }) =>
        findViewSetting(query, account_id),
    }),
    operation('PUT /api/console/operator-views', {
      operationId: 'setOperatorViewSetting',
      summary: 'Allow or forbid support to view this account',
      description: 'Forbidding it ends a view at once. For the manager of a team it counts for all members.',
      caller: session,
      body: z.strictObject({ is_allowed: z.boolean('must be true or false') }),
      example: { is_allowed: false },
      answers: ANSWER,
      handle: async (
        { transact }: { transact: Transact },
        { by: { account_id, actor }, body: { is_allowed } },
      ) =>
        transact(async (inside) => {
          if (await setViewsAllowed(inside, account_id, is_allowed)) {
            const entry = { ...actor, application_id: null, account_id, details: { is_allowed } };
            await recordAudit(inside, { ...entry, action: 'operator_views_set' });
          }
          return findViewSetting(inside, account_id);
        }),
    }),
  ],
} satisfies Chapter;
