import { z } from 'zod';
import { usageEventSchema } from '@tollgate/contracts/usage-stream';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, nextCursor } from '../http/answer-fields.ts';
import { booleanQueryField, cursorField, idField } from '../http/input/fields.ts';
import { idParameter } from '../http/input/id-parameter.ts';
import { cutPage, lookAhead, pageFields } from '../http/input/page.ts';
import { operator } from '../platform/audit/private-callers.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import { checkPeriod, checkPeriods, isEqual, rebuildTotals } from './checks/usage-checks.ts';
import type { Checked } from './checks/usage-checks.ts';
import { GAP_CAUSES, countRecentGaps, listGaps } from './gaps/list.ts';
import type { RepairUsage } from './repairs/repair.ts';
import type { createCountUnassigned } from './unassigned/count.ts';
import { REASONS, eventsOf, explain } from './unassigned/explain.ts';
import type { UnassignedRow } from './unassigned/explain.ts';
import { findUnassigned, listUnassigned } from './unassigned/store.ts';

type Needs = {
  query: Query;
  /** With a longer timeout, for sums over many hours. */
  checks: { query: Query; transact: Transact; onTotalsChanged: () => void };
  countUnassigned: ReturnType<typeof createCountUnassigned>;
  repairUsage: RepairUsage;
};

/** Periods of one check. */
const CHECKED_PAGE = 100;

const count = z.int().min(0);

const countersSchema = z
  .object({ points: count, requests: count, time_ms: count, traffic_bytes: count })
  .meta({ id: 'UsageCounters' });

const gapSchema = z
  .object({
    gap_id: id,
    seen_at: instant,
    cause: z.enum(GAP_CAUSES),
    stream: z.string(),
    gateway_id: z.string().nullable(),
    first_batch: z.number().nullable(),
    last_batch: z.number().nullable(),
    batches: z.number().nullable(),
    requests: z.number().nullable(),
    points: z.number().nullable(),
    after_entry: z.string().nullable(),
    last_entry: z.string().nullable(),
    recovered: countersSchema.nullable(),
    within_gap_id: id.nullable(),
  })
  .meta({
    id: 'UsageGap',
    description: 'What is unknown or does not apply is null.',
  });

const unassignedSchema = z
  .object({
    unassigned_id: id,
    recorded_at: instant,
    reason: z.string(),
    explanation: z.string(),
    stream: z.string(),
    entry_id: z.string(),
    event_index: z.int().nullable(),
    events: z
      .array(usageEventSchema)
      .nullable()
      .meta({ description: 'Null if the row is unreadable; it cannot be counted.' }),
    counted_at: instant.nullable(),
    counted_period_id: id.nullable(),
  })
  .meta({ id: 'UnassignedUsage' });

const ofUnassigned = z.object({ unassigned_id: idParameter });

export const operatorCounting = {
  title: 'Usage counting',
  description: 'Checks and repairs of what gateways have reported.',
  operations: [
    operation('GET /private/usage-gaps', {
      operationId: 'listUsageGaps',
      summary: 'List gaps in the reported usage, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({
        ...pageFields,
        stream: z.string('must be text').min(1, 'must not be empty').max(40, 'is too long').optional(),
        cause: z.enum(GAP_CAUSES, `must be one of ${GAP_CAUSES.join(', ')}`).optional(),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ gaps: z.array(gapSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { query: { stream, cause, ...page } }) => {
        const found = await listGaps(read, { stream, cause }, lookAhead(page));
        const { rows, next_cursor } = cutPage(found, page, ({ gap_id }) => gap_id);
        return { gaps: rows, next_cursor };
      },
    }),
    operation('GET /private/usage-unassigned', {
      operationId: 'listUnassignedUsage',
      summary: 'List usage that belongs to no billing period, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({
        ...pageFields,
        reason: z.enum(REASONS, `must be one of ${REASONS.join(', ')}`).optional(),
        counted: booleanQueryField.optional(),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ unassigned: z.array(unassignedSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { query: { reason, counted, ...page } }) => {
        const found = await listUnassigned(read, { reason, counted }, lookAhead(page));
        const { rows, next_cursor } = cutPage(found, page, ({ unassigned_id }) => unassigned_id);
        return { unassigned: rows.map(unassignedAnswer), next_cursor };
      },
    }),
    operation('GET /private/usage-unassigned/{unassigned_id}', {
      operationId: 'getUnassignedUsage',
      summary: 'Get unassigned usage with its original text',
      caller: operator,
      roles: ['viewer'],
      params: ofUnassigned,
      answers: {
        200: { description: 'The row.', schema: unassignedSchema.extend({ raw: z.string() }) },
      },
      handle: async ({ query }: Needs, { params: { unassigned_id } }) => {
        const row = await findUnassigned(query, unassigned_id);
        if (row === undefined) throw new Problem('not_found');
        return { ...unassignedAnswer(row), raw: row.raw };
      },
    }),
    operation('POST /private/usage-unassigned/{unassigned_id}/count', {
      operationId: 'countUnassignedUsage',
      summary: 'Count unassigned usage',
      description:
        'Without `period_id` in the period of the event, if it is the payer’s, else in the one at its time. ' +
        '`changed` is false if it was counted before.',
      caller: operator,
      roles: ['admin'],
      params: ofUnassigned,
      body: z.strictObject({ period_id: idField.optional() }),
      example: { period_id: 1_042 },
      answers: {
        200: { description: 'The row.', schema: unassignedSchema.extend({ changed: z.boolean() }) },
      },
      problems: ['no_billing_period', 'usage_not_readable', 'usage_total_too_large'],
      handle: async ({ countUnassigned }: Needs, { by, params: { unassigned_id }, body: { period_id } }) => {
        const { row, changed } = await countUnassigned(unassigned_id, period_id, by.actor);
        return { ...unassignedAnswer(row), changed };
      },
    }),
    operation('POST /private/usage-checks', {
      operationId: 'checkUsage',
      summary: 'Compare totals with hourly rows',
      description:
        'Of one period, or of 100 periods at a time, newest first. Differences exist only if something else has ' +
        'written to the tables.',
      caller: operator,
      roles: ['viewer'],
      body: z.strictObject({
        period_id: idField.optional(),
        cursor: cursorField,
      }),
      example: { period_id: 1_042 },
      answers: {
        200: {
          description: 'What was compared.',
          schema: z.object({
            checked: count,
            beyond_retention: count.meta({
              description: 'Periods that cannot be checked because hourly rows were dropped.',
            }),
            differences: z.array(z.object({ period_id: id, totals: countersSchema, hourly: countersSchema })),
            out_of_range: z.array(id).meta({
              description: 'Periods with a counter above 2^53 - 1, which is shown as that number.',
            }),
            recent_gaps: count.meta({ description: 'Gaps found in the last 30 days.' }),
            next_cursor: nextCursor,
          }),
        },
      },
      problems: ['not_found'],
      handle: async ({ checks: { query } }: Needs, { body: { period_id, cursor } }) => {
        const page = { limit: CHECKED_PAGE, cursor };
        const found =
          period_id === undefined
            ? await checkPeriods(query, lookAhead(page))
            : [await checkPeriod(query, period_id)];
        const { rows, next_cursor } = cutPage(found, page, (checked) => checked.period_id);
        const whole = rows.filter(({ beyond_retention }) => !beyond_retention);
        return {
          checked: whole.length,
          beyond_retention: rows.length - whole.length,
          differences: whole
            .filter(differs)
            .map(({ period_id, totals, hourly }) => ({ period_id, totals, hourly })),
          out_of_range: rows.filter(({ out_of_range }) => out_of_range).map(({ period_id }) => period_id),
          recent_gaps: await countRecentGaps(query),
          next_cursor,
        };
      },
    }),
    operation('POST /private/usage-rebuilds', {
      operationId: 'rebuildUsage',
      summary: 'Set the totals of a period to the sums of its hourly rows',
      description: 'Live counters follow within a second.',
      caller: operator,
      roles: ['admin'],
      body: z.strictObject({ period_id: idField }),
      example: { period_id: 1_042 },
      answers: {
        200: {
          description: 'The totals.',
          schema: z.object({
            period_id: id,
            totals_before: countersSchema,
            totals: countersSchema,
            changed: z.boolean(),
          }),
        },
      },
      problems: ['not_found', 'usage_rows_dropped'],
      handle: async ({ checks }: Needs, { by, body: { period_id } }) => {
        const found = await checks.transact((inside) => rebuildTotals(inside, period_id, by.actor));
        checks.onTotalsChanged();
        return { period_id, totals_before: found.totals, totals: found.hourly, changed: differs(found) };
      },
    }),
    operation('POST /private/usage-repairs', {
      operationId: 'repairUsage',
      summary: 'Bring counters in Postgres and Redis together after a restore',
      description:
        '`restored: true` states that Postgres was restored from a backup, so that ids assigned after the backup are ' +
        'not assigned again. Safe to repeat; streams repaired before a failure stay repaired.',
      caller: operator,
      roles: ['admin'],
      body: z.strictObject({ restored: z.boolean('must be true or false').optional() }),
      example: { restored: true },
      answers: {
        200: {
          description: 'What was repaired.',
          schema: z.object({
            checked_streams: count,
            rolled_back_streams: z.array(z.string()),
            reset_streams: z.array(z.string()),
            repaired_periods: count,
            recovered: countersSchema,
            ids_skipped: z.boolean(),
          }),
        },
      },
      handle: ({ repairUsage }: Needs, { by, body: { restored = false } }) =>
        repairUsage({ restored }, by.actor),
    }),
  ],
} satisfies Chapter;

const differs = (checked: Checked) => !isEqual(checked);

function unassignedAnswer({ raw, counted_at, counted_period_id, ...whole }: UnassignedRow) {
  const events = eventsOf({ event_index: whole.event_index, raw });
  return { ...whole, explanation: explain(whole.reason), events, counted_at, counted_period_id };
}
