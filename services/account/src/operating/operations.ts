import { z } from 'zod';
import { roleSuffices } from '@tollgate/contracts/operator-roles';
import { healthReportSchema } from '@tollgate/contracts/health-report';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, nextCursor } from '../http/answer-fields.ts';
import { idQueryField } from '../http/input/fields.ts';
import { cutPage, lookAhead, pageFields } from '../http/input/page.ts';
import { fromField, toField } from '../http/input/time-range.ts';
import { AUDIT_ACTIONS } from '../platform/audit/audit-log.ts';
import type { AuditEntry } from '../platform/audit/audit-log.ts';
import { operator } from '../platform/audit/private-callers.ts';
import type { Query } from '../platform/database/query.ts';
import { reportHealth } from './health-report/health-report.ts';
import type { ReportedHealth } from './health-report/health-report.ts';

const textField = z.string('must be text').min(1, 'must not be empty').max(300, 'is too long');

type Logged = AuditEntry & { audit_id: number; at: Date };

const entrySchema = z
  .object({
    audit_id: id,
    at: instant,
    actor: z.string(),
    action: z.enum(AUDIT_ACTIONS),
    application_id: id.nullable(),
    account_id: id.nullable().meta({ description: 'Null for plans and products.' }),
    address: z.string().nullable().meta({ description: 'Null for roles other than `support` and `admin`.' }),
    request_id: z.string(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditEntry' });

const CONDITIONS = {
  account_id: 'account_id = :account_id',
  application_id: 'application_id = :application_id',
  actor: 'actor = :actor',
  action: 'action = :action',
  from: 'at >= :from',
  to: 'at < :to',
} as const;

export const operatorOperating = {
  title: 'Operating',
  description: 'What was done, and how the installation is.',
  operations: [
    operation('GET /private/audit-log', {
      operationId: 'listAuditLog',
      summary: 'List the audit log, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({
        ...pageFields,
        account_id: idQueryField.optional(),
        application_id: idQueryField.optional(),
        actor: textField.optional(),
        action: z.enum(AUDIT_ACTIONS, `must be one of ${AUDIT_ACTIONS.toSorted().join(', ')}`).optional(),
        from: fromField('Start of the range, inclusive.'),
        to: toField('End of the range, exclusive; a date includes its whole day.'),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ entries: z.array(entrySchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: { query: Query }, { by, query }) => {
        const { limit: _limit, cursor: _cursor, ...filters } = query;
        const asked = Object.keys(CONDITIONS).filter(
          (name) => name in filters,
        ) as (keyof typeof CONDITIONS)[];
        const conditions = ['audit_id < :before', ...asked.map((name) => CONDITIONS[name])];
        const found = await read<Logged>(
          `SELECT audit_id, at, actor, action, application_id, account_id, address, request_id, details
           FROM audit_log WHERE ${conditions.join(' AND ')} ORDER BY audit_id DESC LIMIT :limit`,
          { ...filters, ...lookAhead(query) },
        );
        const { rows, next_cursor } = cutPage(found, query, ({ audit_id }) => audit_id);
        const seesAddresses = roleSuffices(by.role, ['support']);
        const entries = rows.map((entry) => ({ ...entry, address: seesAddresses ? entry.address : null }));
        return { entries, next_cursor };
      },
    }),
    operation('GET /private/health-report', {
      operationId: 'getHealthReport',
      summary: 'Get a report for `tollgate doctor`',
      description:
        'A part that account cannot reach, or that does not answer in time, is null; the report itself never fails.',
      caller: operator,
      roles: ['viewer'],
      answers: { 200: { description: 'The report.', schema: healthReportSchema } },
      handle: ({ healthReport }: { healthReport: ReportedHealth }) => reportHealth(healthReport),
    }),
  ],
} satisfies Chapter;
