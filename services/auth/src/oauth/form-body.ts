import { raw } from 'express';
import type { Request, RequestHandler } from 'express';
import { parseForm } from '@tollgate/form-encoding/form';
import type { Form } from '@tollgate/form-encoding/form';
import { Problem } from '@tollgate/problem';

/** Reads a form body's bytes, up to a limit. A compressed one is refused: a small bomb would pass the limit. */
export function readFormBody(maxBodyBytes: number): RequestHandler {
  return raw({ type: 'application/x-www-form-urlencoded', limit: maxBodyBytes, inflate: false });
}

/**
 * The form that readFormBody has read.
 * @throws {Problem} unsupported_media_type where the body is no form; invalid_request where it is malformed
 */
export function formOf(req: Request): Form {
  const body: unknown = req.body;
  if (!Buffer.isBuffer(body)) {
    throw new Problem('unsupported_media_type', {
      detail: 'The content type must be application/x-www-form-urlencoded.',
    });
  }
  return parseForm(body);
}
