import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import { parseBasic } from '@tollgate/form-encoding/basic';
import { Problem } from '@tollgate/problem';

/** A caller of a private listener, sent as HTTP Basic (RFC 7617). */
export type ServiceCredential = { id: string; secret: string };

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
  return (req, _res, next) => {
    const authorization = req.headers.authorization ?? '';
    const decoded = parseBasic(authorization);
    const plain = digest(authorization);
    const given = decoded === null ? plain : digest(basicAuthorization(decoded));
    let matches = 0;
    for (const known of digests) {
      matches += timingSafeEqual(known, plain) ? 1 : 0;
      matches += timingSafeEqual(known, given) ? 1 : 0;
    }
    if (matches > 0) {
      next();
      return;
    }
    throw new Problem('unauthorized', { headers: { 'www-authenticate': 'Basic realm="tollgate-private"' } });
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
