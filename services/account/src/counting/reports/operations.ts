import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id } from '../../http/answer-fields.ts';
import { reporter } from '../../platform/audit/private-callers.ts';
import type { CountReport, EventOutcome } from './count-report.ts';
import { MAX_REPORT_BYTES, reportSchema } from './input.ts';
import { REFUSALS } from './rules.ts';
import type { RefusalCode } from './rules.ts';

export type ReportNeeds = { countReport: CountReport; reportedEvents: Pick<Counter<'outcome'>, 'inc'> };

const count = z.int().min(0);

const ofEvent = { index: count, idempotency_key: z.string() };

const outcomeSchema = z.union([
  z.object({ ...ofEvent, status: z.enum(['counted', 'repeated']), period_id: id }),
  z.object({
    ...ofEvent,
    status: z.literal('refused'),
    code: z.enum(Object.keys(REFUSALS) as RefusalCode[]),
  }),
]);

export const usageReports = {
  title: 'Usage reports',
  description: 'For other systems that serve calls to the same customers.',
  operations: [
    operation('POST /private/usage-reports', {
      operationId: 'reportUsage',
      summary: 'Report metered usage',
      description:
        'Each event is counted once by its key, which is unique per credential. If one field is invalid, ' +
        'nothing is counted. After `service_unavailable`, send the report again.',
      caller: reporter,
      body: reportSchema,
      maxBodyBytes: MAX_REPORT_BYTES,
      example: {
        events: [
          {
            idempotency_key: 'v1-2026-11-27T09-account-7-application-12',
            account_id: 7,
            application_id: 12,
            api_version: 'v1',
            occurred_at: '2026-11-27T09:59:59Z',
            points: 250,
            requests: 100,
            time_ms: 0,
            traffic_bytes: 48_213,
          },
        ],
      },
      answers: {
        200: {
          description: 'What became of the events, in their order.',
          schema: z.object({
            counted: count,
            repeated: count,
            refused: count,
            results: z.array(outcomeSchema),
          }),
        },
      },
      handle: async ({ countReport, reportedEvents }: ReportNeeds, { by, body: { events } }) => {
        const outcomes = await countReport(by.reporter, events);
        const countOf = (status: EventOutcome['status']) =>
          outcomes.filter((outcome) => outcome.status === status).length;
        const counts = {
          counted: countOf('counted'),
          repeated: countOf('repeated'),
          refused: countOf('refused'),
        };
        for (const [outcome, number] of Object.entries(counts)) reportedEvents.inc({ outcome }, number);
        const results = outcomes.map((outcome, index) => ({
          index,
          idempotency_key: events[index]?.idempotency_key ?? '',
          ...outcome,
        }));
        return { ...counts, results };
      },
    }),
  ],
} satisfies Chapter;

export function createReportedEvents(registry: Registry): Counter<'outcome'> {
  return new Counter({
    name: 'tollgate_usage_report_events_total',
    help: 'Events reported to this process by other systems, by outcome: counted, repeated or refused',
    labelNames: ['outcome'],
    registers: [registry],
  });
}
