import type { Request } from 'express';
import type { z } from 'zod';
import { invalidInput } from '@tollgate/http/invalid-fields';

/** @throws {Problem} invalid_request that names every invalid header */
export function headersOf<Schema extends z.ZodObject>(
  req: Pick<Request, 'get'>,
  schema: Schema,
): z.output<Schema> {
  const sent = Object.keys(schema.shape).map((name) => [name, req.get(name)] as const);
  const parsed = schema.safeParse(Object.fromEntries(sent));
  if (parsed.success) return parsed.data;
  throw invalidInput(parsed.error);
}
