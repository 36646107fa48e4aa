import type { Request } from 'express';
import { json } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/problem';
import { NAME_MAX_CHARACTERS, OVERLAP_SEC, TOKEN_LIFESPAN_SEC } from './rules.ts';

const MAX_BODY_BYTES = 16_384;

/** Reads a JSON body. A compressed one is refused: a small bomb would pass the limit. */
export const readJsonBody = json({ type: 'application/json', limit: MAX_BODY_BYTES, inflate: false });

const id = z.int('must be a whole number').min(1, 'must be at least 1');

const name = z
  .string('must be text')
  .refine(
    (value) => value.trim() !== '' && Array.from(value).length <= NAME_MAX_CHARACTERS,
    `must have 1 to ${String(NAME_MAX_CHARACTERS)} characters, not only white space`,
  )
  .refine(
    (value) => value.isWellFormed() && !/\p{Cc}/u.test(value),
    'must be Unicode text without control characters',
  );

/** Body of `POST /private/applications`. */
export const newApplicationSchema = z.strictObject({
  account_id: id,
  name,
  type: z.enum(['automatic', 'manual'], 'must be automatic or manual'),
  token_lifespan_sec: wholeSeconds(TOKEN_LIFESPAN_SEC),
});

/** Body of `POST /private/applications/{application_id}/rotate-secret`. */
export const rotationSchema = z.strictObject({ overlap_sec: wholeSeconds(OVERLAP_SEC) });

function wholeSeconds({ min, max }: { min: number; max: number }) {
  const wanted = `must be a whole number of seconds from ${String(min)} to ${String(max)}`;
  return z.int(wanted).min(min, wanted).max(max, wanted);
}

/**
 * The request's JSON body, held to a schema.
 * @throws {Problem} unsupported_media_type, or invalid_request whose detail names every faulty member
 */
export function bodyOf<T>(req: Request, schema: z.ZodType<T>): T {
  const body: unknown = req.body;
  if (body === undefined) {
    throw new Problem('unsupported_media_type', { detail: 'The content type must be application/json.' });
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(faultOf);
  throw new Problem('invalid_request', { detail: `${[...new Set(faults)].join('; ')}.` });
}

/** Members that nobody asked for aren't repeated: they are as long and as odd as the caller likes. */
function faultOf({ code, path, message }: z.core.$ZodIssue): string {
  if (code === 'unrecognized_keys') return 'there are unknown members';
  return path.length === 0 ? 'the body must be a JSON object' : `${path.join('.')}: ${message}`;
}

const applicationIdSchema = z
  .string()
  .regex(/^[1-9]\d{0,15}$/)
  .transform(Number)
  .refine(Number.isSafeInteger);

/**
 * The path's application id.
 * @throws {Problem} not_found for one that no application can have
 */
export function applicationIdOf(req: Pick<Request, 'params'>): number {
  const parsed = applicationIdSchema.safeParse(req.params['application_id']);
  if (!parsed.success) throw new Problem('not_found');
  return parsed.data;
}
