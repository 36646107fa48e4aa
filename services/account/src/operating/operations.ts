import { z } from 'zod';
import { healthReportSchema } from '@tollgate/contracts/health-report';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { nextCursor } from '../http/answer-fields.ts';
import { idField, idQueryField } from '../http/input/fields.ts';
import { cutPage, lookAhead, pageFields } from '../http/input/page.ts';
import { refuseExceeded } from '../identity/attempts/attempt-counts.ts';
import type { AttemptCounts } from '../identity/attempts/attempt-counts.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { operator, seesAddresses } from '../platform/audit/private-callers.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import { filterFields, findEntries, findExtent, loggedSchema } from './audit-entries.ts';
import { EXPORT_FORMATS, sendAuditExport } from './audit-export.ts';
import { reportHealth } from './health-report/health-report.ts';
import type { ReportedHealth } from './health-report/health-report.ts';

/** Each holds a connection to Postgres and a snapshot. */
const EXPORTS = { max: 10, windowSec: 3_600 };

type ExportNeeds = {
  transact: Transact;
  counts: AttemptCounts;
  /** Of the pool for exports. */
  snapshot: Transact;
  runningExports: { run: (owner: string, work: () => Promise<void>) => Promise<void> };
};

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
        ...filterFields,
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ entries: z.array(loggedSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: { query: Query }, { by, query }) => {
        const { limit: _limit, cursor: _cursor, ...filters } = query;
        const found = await findEntries(read, filters, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ audit_id }) => audit_id);
        const entries = seesAddresses(by) ? rows : rows.map((entry) => ({ ...entry, address: null }));
        return { entries, next_cursor };
      },
    }),
    operation('POST /private/audit-log/export', {
      operationId: 'exportAuditLog',
      summary: 'Export the audit log as CSV or lines of JSON, oldest first',
      description:
        'All entries that the filters leave, as they are at one moment. The export is an entry of the audit log itself, ' +
        'with the number of entries and the ids of the first and the last, which the file’s name has too. If something ' +
        'fails on the way, the connection is reset. One export of an operator runs at a time, and ten in an hour.',
      caller: operator,
      roles: ['viewer'],
      body: z.strictObject({
        format: z.enum(EXPORT_FORMATS, `must be ${EXPORT_FORMATS.join(' or ')}`),
        account_id: idField.optional(),
        application_id: idField.optional(),
        ...filterFields,
      }),
      example: { format: 'csv', from: '2026-07-01', to: '2026-07-31' },
      answers: {
        200: {
          description: 'The file.',
          schema: z.string(),
          contentTypes: ['text/csv', 'application/x-ndjson'],
          headers: { 'X-Audit-Entries': 'How many entries it has.' },
        },
      },
      problems: ['too_many_requests'],
      respond: async (needs: ExportNeeds, { by, body: { format, ...filters }, res }) => {
        const subject = `audit export ${by.actor.actor}`;
        await needs.runningExports.run(subject, async () => {
          refuseExceeded(await needs.counts.take([{ subject, ...EXPORTS }]));
          await needs.snapshot(async (query) => {
            const extent = await findExtent(query, filters);
            const details = { format, filters, ...extent };
            const entry = { ...by.actor, application_id: null, account_id: null, details };
            await needs.transact((inside) => recordAudit(inside, { ...entry, action: 'audit_log_exported' }));
            const wanted = { filters, format, extent, seesAddresses: seesAddresses(by) };
            await sendAuditExport(query, wanted, res);
          });
        });
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
