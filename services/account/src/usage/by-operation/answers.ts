import { z } from 'zod';
import { id } from '../../http/answer-fields.ts';

const count = z.int().min(0);
const second = z.iso.datetime({ precision: 0 }).meta({ examples: ['2026-07-01T00:00:00Z'] });
const milliseconds = count.nullable();

const calls = {
  points_usage: count,
  requests_usage: count,
  errors: count.meta({
    description: 'Requests that the data API answered with a status of 400 or above, or broke off.',
  }),
};

export const operationUsageAnswerSchema = z
  .object({
    account_id: id,
    payer_id: id,
    view: z.enum(['billed', 'own']),
    from: second.meta({ description: 'Start of the range, extended to whole days.' }),
    to: second.meta({ description: 'End of the range, exclusive.' }),
    points_usage: count.meta({
      description: 'The total of the range, as `GET /api/console/usage` has it.',
    }),
    requests_usage: count,
    operations: z
      .array(
        z.object({
          hash: z.string().meta({
            description:
              'SHA-256 of the document without its literals, so that operations that differ only in them are one.',
          }),
          name: z.string().nullable().meta({ description: 'Null if the document does not name it.' }),
          ...calls,
          p50_ms: milliseconds.meta({
            description: 'Half of the requests took no longer, within a factor of 1.42.',
          }),
          p95_ms: milliseconds.meta({
            description: '95% of the requests took no longer, within a factor of 1.42.',
          }),
          document: z.string().nullable().meta({
            description:
              'With literals replaced by `""`, `0`, `true`, `VALUE`, `[]` and `{}`; null if it is not kept.',
          }),
          days: z
            .array(z.object({ day: z.iso.date(), points_usage: count }))
            .meta({ description: 'The days with usage of it.' }),
        }),
      )
      .meta({ description: 'The 100 operations with the most points, dearest first.' }),
    others: z.object(calls).meta({
      description:
        'All other usage: further operations, usage reported by other systems, and requests whose operation is not known.',
    }),
  })
  .meta({ id: 'UsageByOperation' });
