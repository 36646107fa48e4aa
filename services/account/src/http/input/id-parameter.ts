import type { Request } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { describedAs } from './described-as.ts';

export const idParameter = describedAs(
  z
    .string()
    .regex(/^[1-9]\d{0,15}$/)
    .transform(Number)
    .refine(Number.isSafeInteger),
  { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
);

/** @throws {Problem} not_found for a text that can't be an id */
export function idOf(req: Pick<Request, 'params'>, name: string): number {
  const parsed = idParameter.safeParse(req.params[name]);
  if (!parsed.success) throw new Problem('not_found');
  return parsed.data;
}
