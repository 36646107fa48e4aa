import type { Request } from 'express';
import type { z } from 'zod';
import { invalidInput } from '@tollgate/http/invalid-fields';

/** @throws {Problem} invalid_request that names every invalid parameter */
export function queryOf<T>(req: Pick<Request, 'query'>, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(req.query);
  if (parsed.success) return parsed.data;
  throw invalidInput(parsed.error);
}
