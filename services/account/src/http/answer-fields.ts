import { z } from 'zod';

export const instant = z
  .date()
  .meta({ override: { type: 'string', format: 'date-time', examples: ['2026-07-01T12:34:56.789Z'] } });

export const id = z.int().min(1);

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'The `cursor` of the next page; null at the end.', examples: [null] });

/** In answers to operators, whose roles don't all see it (platform/audit/private-callers.ts). */
export const ipAddress = z
  .string()
  .nullable()
  .meta({ description: 'Null for roles other than `support` and `admin`.' });

export const delivered = z.boolean().meta({
  description:
    'Whether the change is in force: the token service has acknowledged it or, for a revocation, it was published to every gateway. If false, delivery is retried until it succeeds.',
});
