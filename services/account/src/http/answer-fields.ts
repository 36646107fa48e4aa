import { z } from 'zod';

/** Members that several answers have. */

/** An instant; JSON writes a Date as ISO 8601 in UTC, `2026-07-01T12:34:56.789Z`. */
export const instant = z
  .date()
  .meta({ override: { type: 'string', format: 'date-time', examples: ['2026-07-01T12:34:56.789Z'] } });

export const id = z.int().min(1);

/** Null at the end of the list. */
export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'The `cursor` of the next page; null at the end.', examples: [null] });

/** Whether the token service has acknowledged the change by now. It is told until it has. */
export const delivered = z.boolean().meta({
  description:
    'Whether the change is in force within a second: the token service has acknowledged it or, of a revocation, every gateway has been told to refuse. If not, both are told until it is.',
});
