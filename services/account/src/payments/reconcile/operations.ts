import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { instant } from '../../http/answer-fields.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Transact } from '../../platform/database/query.ts';
import { switchedOn } from '../switched-on.ts';
import type { Payments } from '../purchases/payments.ts';
import { endRestore, insertRun } from './store.ts';

type Needs = { transact: Transact; payments: Payments | null };

const DAY_MS = 86_400_000;

const bodySchema = z.strictObject({
  since: z.iso
    .datetime('must be a time in UTC, such as 2026-11-27T00:00:00Z')
    .transform((value) => new Date(value))
    .optional()
    .meta({ description: 'What was made at Stripe since then is read; a day ago by default.' }),
  dry_run: z.boolean('must be true or false').default(false),
});

const answerSchema = z
  .object({
    since: instant,
    checked: z.int().meta({ description: 'Objects that were read at Stripe.' }),
    failed: z.int().meta({ description: 'Objects that could not be read or applied; see the log.' }),
    is_complete: z.boolean().meta({
      description:
        'False if Stripe could not be read to the end. What was read until then is applied; repeat the request.',
    }),
    differences: z.array(z.object({ object_id: z.string(), change: z.string() })),
  })
  .meta({ id: 'PaymentReconciliation' });

export const operatorReconciliation = {
  title: 'Reconciling payments',
  description: 'For events from Stripe that never arrived, and after a database was restored.',
  operations: [
    operation('POST /private/payments/reconcile', {
      operationId: 'reconcilePayments',
      summary: 'Compare with Stripe, and apply what was missed',
      description:
        'Reads payment pages, top-ups, refunds and disputes at Stripe, and applies their present state. Runs every hour by itself. ' +
        'With `dry_run`, only lists what would change. After a restore of Postgres, `since` is the time of the backup: ' +
        'then periods are closed and customers charged again.',
      caller: operator,
      roles: ['finance'],
      body: bodySchema,
      example: { dry_run: true },
      answers: { 200: { description: 'What was different.', schema: answerSchema } },
      problems: ['not_found', 'payments_unavailable'],
      handle: async ({ transact, payments }: Needs, { by: { actor }, body }) => {
        const { since = new Date(Date.now() - DAY_MS), dry_run } = body;
        const run = await switchedOn(payments).reconcile({ since, isDryRun: dry_run });
        const { checked, failed, isComplete, differences } = run;
        if (!dry_run) {
          await transact(async (inside) => {
            const details = { since, checked, failed, differences: differences.length };
            const about = { application_id: null, account_id: null, details };
            await recordAudit(inside, { ...actor, ...about, action: 'payments_reconciled' });
            if (failed > 0 || !isComplete) return;
            await insertRun(inside, run);
            if (body.since !== undefined) await endRestore(inside);
          });
        }
        return { since: run.since, checked, failed, is_complete: isComplete, differences };
      },
    }),
  ],
} satisfies Chapter;
