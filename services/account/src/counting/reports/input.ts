import { createHash } from 'node:crypto';
import { z } from 'zod';
import { MAX_EVENT_COUNTER, usageEventSchema } from '@tollgate/contracts/usage-stream';
import { describedAs } from '../../http/input/described-as.ts';
import { idField } from '../../http/input/fields.ts';
import { idempotencyKeyField } from '../../http/input/idempotency-key.ts';

const MAX_EVENTS = 500;

/** Fits 500 events with the longest keys. */
export const MAX_REPORT_BYTES = 524_288;

const counterField = z
  .int('must be a whole number')
  .min(0, 'must be at least 0')
  .max(MAX_EVENT_COUNTER, `must be at most ${String(MAX_EVENT_COUNTER)}`);

const WANTED_INSTANT = 'must be a time with an offset, such as 2026-07-01T12:00:00Z';

const instantField = describedAs(
  z
    .string(WANTED_INSTANT)
    .refine((value) => z.iso.datetime({ offset: true }).safeParse(value).success, WANTED_INSTANT)
    .transform((value) => new Date(value))
    .refine((value) => !Number.isNaN(value.getTime()), WANTED_INSTANT),
  { type: 'string', format: 'date-time', description: 'Decides the billing period and the hour.' },
);

const reportedEventSchema = z.strictObject(
  {
    idempotency_key: idempotencyKeyField,
    account_id: idField,
    application_id: idField.optional(),
    api_version: z.enum(
      usageEventSchema.shape.api_version.options,
      `must be one of ${usageEventSchema.shape.api_version.options.join(', ')}`,
    ),
    occurred_at: instantField,
    points: counterField,
    requests: counterField,
    time_ms: counterField,
    traffic_bytes: counterField,
  },
  'must be a JSON object',
);

export const reportSchema = z.strictObject({
  events: z
    .array(reportedEventSchema, 'must be a list')
    .min(1, 'must have at least 1 event')
    .max(MAX_EVENTS, `must have at most ${String(MAX_EVENTS)} events`),
});

export type ReportedEvent = z.output<typeof reportedEventSchema>;

/** Equal for events with equal content, however they are written. */
export function contentHash(event: ReportedEvent): string {
  const { account_id, application_id, api_version, occurred_at, points, requests, time_ms, traffic_bytes } =
    event;
  const content = [account_id, application_id ?? null, api_version, occurred_at.getTime()];
  return createHash('sha256')
    .update(JSON.stringify([...content, points, requests, time_ms, traffic_bytes]))
    .digest('base64url');
}
