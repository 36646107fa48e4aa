import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { idQueryField } from '../../http/input/fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { ISSUE_KINDS, listIssues, lockIssue, resolveIssue } from './store.ts';

type Needs = { query: Query; transact: Transact };

const STATES = ['open', 'resolved', 'all'] as const;

const issueSchema = z
  .object({
    issue_id: id,
    kind: z.enum(ISSUE_KINDS),
    object_id: z.string().meta({ description: 'At Stripe: the payment or the dispute.' }),
    account_id: id.nullable(),
    details: z
      .record(z.string(), z.unknown())
      .meta({ description: 'What is known of it; depends on the kind.' }),
    created_at: instant,
    resolved_at: instant.nullable(),
  })
  .meta({ id: 'PaymentIssue' });

const ofIssue = z.object({ issue_id: idParameter });

export const operatorPaymentIssues = {
  title: 'Payment issues',
  description:
    'Payments that need your attention, such as disputes, possible duplicates, and refunds of points that were used.',
  operations: [
    operation('GET /private/payments/issues', {
      operationId: 'listPaymentIssues',
      summary: 'List payment issues, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({
        ...pageFields,
        account_id: idQueryField.optional(),
        state: z.enum(STATES, `must be one of ${STATES.join(', ')}`).default('open'),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ issues: z.array(issueSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { query }) => {
        const { account_id, state } = query;
        const found = await listIssues(read, { account_id, state }, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ issue_id }) => issue_id);
        return { issues: rows, next_cursor };
      },
    }),
    operation('POST /private/payments/issues/{issue_id}/resolve', {
      operationId: 'resolvePaymentIssue',
      summary: 'Mark a payment issue as resolved',
      description: 'Changes neither points nor money. The issue opens again if something about it changes.',
      caller: operator,
      roles: ['finance'],
      params: ofIssue,
      answers: { 200: { description: 'The issue.', schema: issueSchema } },
      problems: ['not_found'],
      handle: ({ transact }: Needs, { by: { actor }, params: { issue_id } }) =>
        transact(async (inside) => {
          const issue = await lockIssue(inside, issue_id);
          if (issue === undefined) throw new Problem('not_found');
          if (issue.resolved_at !== null) return issue;
          const { kind, object_id, account_id } = issue;
          const resolved = await resolveIssue(inside, issue_id);
          const details = { issue_id, kind, object_id };
          const change = changeOf(['resolved_at'], issue, resolved);
          const about = { application_id: null, account_id, details, change };
          await recordAudit(inside, { ...actor, ...about, action: 'payment_issue_resolved' });
          return resolved;
        }),
    }),
  ],
} satisfies Chapter;
