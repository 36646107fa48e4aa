import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import { parseBasic } from '@tollgate/form-encoding/basic';
import { Problem } from '@tollgate/problem';

/** A caller of a private listener, sent as HTTP Basic (RFC 7617). */
export type ServiceCredential = { id: string; secret: string };

/** Where the caller's id is in res.locals. */
const CALLER_ID = 'serviceCallerId';

/** The Authorization header for a service credential. */
export function basicAuthorization({ id, secret }: ServiceCredential): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

/**
 * Express middleware that lets only the given service credentials pass; others get 401 with a Basic challenge.
 * They may be form-encoded, as OAuth's clients send them (RFC 6749, section 2.3.1), or plain, as curl does.
 * All accepted credentials are compared, in constant time, so that timing tells neither id nor secret.
 */
export function requireServiceCredential(accepted: readonly ServiceCredential[]): RequestHandler {
  const digests = accepted.map((credential) => digest(basicAuthorization(credential)));
  return (req, res, next) => {
    const authorization = req.headers.authorization ?? '';
    const decoded = parseBasic(authorization);
    const plain = digest(authorization);
    const given = decoded === null ? plain : digest(basicAuthorization(decoded));
    let caller: string | undefined;
    for (const [index, known] of digests.entries()) {
      const matches = Number(timingSafeEqual(known, plain)) + Number(timingSafeEqual(known, given));
      if (matches > 0) caller = accepted[index]?.id;
    }
    if (caller !== undefined) {
      res.locals[CALLER_ID] = caller;
      next();
      return;
    }
    throw new Problem('unauthorized', { headers: { 'www-authenticate': 'Basic realm="tollgate-private"' } });
  };
}

/** The id of the caller that requireServiceCredential has let pass. */
export function serviceCallerId(res: Pick<Response, 'locals'>): string {
  const caller: unknown = res.locals[CALLER_ID];
  if (typeof caller !== 'string') throw new Error('serviceCallerId without requireServiceCredential');
  return caller;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
