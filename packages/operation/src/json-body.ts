import { json } from 'express';
import type { Request } from 'express';
import type { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { invalidInput } from '@tollgate/http/invalid-fields';

/** Refuses compressed bodies, which could exceed the limit when inflated. */
export const jsonBodyUpTo = (limit: number) => json({ type: 'application/json', limit, inflate: false });

/** @throws {Problem} unsupported_media_type, or invalid_request that names every invalid member */
export function bodyOf<T>(req: Pick<Request, 'body'>, schema: z.ZodType<T>): T {
  const body: unknown = req.body;
  if (body === undefined) {
    throw new Problem('unsupported_media_type', { detail: 'The content type must be application/json.' });
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw invalidInput(parsed.error);
}
