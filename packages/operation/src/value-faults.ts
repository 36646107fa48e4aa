import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';

/**
 * How a handler's value differs from its schema, as one text; empty if it doesn't. A member that the schema doesn't
 * have is a fault too, because it would be sent without being documented.
 */
export function faultsOfValue(schema: z.ZodType, value: unknown): string {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  }
  if (isDeepStrictEqual(written(parsed.data), written(value))) return '';
  return 'it has members that the schema leaves out';
}

function written(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}
