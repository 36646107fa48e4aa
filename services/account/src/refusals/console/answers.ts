import { APPLICATION_TYPES } from '@tollgate/contracts/application-types';
import { z } from 'zod';
import { REFUSED_CALL_KINDS } from '@tollgate/contracts/refused-call';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';

const second = z.iso.datetime({ precision: 0 }).meta({ examples: ['2026-07-01T00:00:00Z'] });

const headFields = { account_id: id, payer_id: id, view: z.enum(['billed', 'own']) };

const calls = z.int().min(0);

const code = z.string().meta({
  description: 'An error code, a WebSocket’s closing code, `upstream_error`, `broken` or `unrecorded`.',
  examples: ['rate_limit_exceeded'],
});

const refusalSchema = z
  .object({
    refusal_id: id,
    at: instant,
    request_id: z.string().meta({ description: 'The `X-Request-Id` of the response.' }),
    transport: z.enum(['http', 'websocket']),
    kind: z.enum(REFUSED_CALL_KINDS),
    code,
    status: z.int().nullable().meta({ description: 'Null if the code has none.' }),
    account_id: id,
    account_name: z.string().nullable(),
    application_id: id.nullable(),
    application_name: z.string().nullable(),
    application_type: z.enum(APPLICATION_TYPES).nullable(),
    operation_name: z
      .string()
      .nullable()
      .meta({ description: 'If the operation came in a URL or over a WebSocket; bodies aren’t read.' }),
    api_version: z.string(),
    duration_ms: z.int().min(0).nullable(),
    points: calls.nullable().meta({ description: 'What the call cost; null if that isn’t known.' }),
    detail: z.string().nullable().meta({ description: 'The message that the caller got.' }),
    unrecorded_before: calls.meta({
      description: 'Calls with this code that were only counted since the last one that is listed.',
    }),
  })
  .meta({ id: 'RefusedCall' });

export const refusalPageSchema = z.object({
  ...headFields,
  refusals: z.array(refusalSchema),
  next_cursor: nextCursor,
});

export const refusalCountsAnswerSchema = z
  .object({
    ...headFields,
    interval: z.enum(['hour', 'day']),
    from: second.meta({ description: 'Start of the range, extended to whole buckets.' }),
    to: second.meta({ description: 'End of the range, exclusive.' }),
    calls,
    codes: z.array(z.object({ code, calls, last_at: instant })).meta({ description: 'Most calls first.' }),
    applications: z
      .array(
        z.object({
          application_id: id,
          name: z.string().nullable(),
          type: z.enum(APPLICATION_TYPES).nullable(),
          calls,
        }),
      )
      .meta({ description: 'Those with most calls, up to 200, whatever `application_id` asks for.' }),
    buckets: z
      .array(z.object({ started_at: second, calls, codes: z.array(z.object({ code, calls })) }))
      .meta({ description: 'All buckets, each with the codes that it has.' }),
  })
  .meta({ id: 'RefusalCounts' });
