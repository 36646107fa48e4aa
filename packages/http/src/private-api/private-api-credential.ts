import { timingSafeEqual } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import { parseBasic } from '../forms/basic-credentials.ts';
import { Problem } from '../problem/problem.ts';

/** Authenticates a caller of a private listener by HTTP Basic (RFC 7617). */
export type ServiceCredential = { id: string; secret: string };

const CALLER_ID = 'serviceCallerId';

export function basicAuthorization({ id, secret }: ServiceCredential): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

export type AuthenticateService = (authorization: string | undefined) => string;

/**
 * Accepts the given credentials, form-encoded (RFC 6749, section 2.3.1) or plain, as curl sends them. Compares all in
 * constant time, so that timing reveals neither id nor secret.
 * @throws {Problem} (the returned function) unauthorized, with a Basic challenge
 */
export function createServiceAuthentication(accepted: readonly ServiceCredential[]): AuthenticateService {
  const headers = accepted.map(basicAuthorization);
  // Padding gives all one length at a fifth of a digest's cost.
  const width = Math.max(0, ...headers.map((header) => Buffer.byteLength(header)));
  const known = accepted.map((credential) => {
    const bytes = Buffer.alloc(width);
    return { id: credential.id, bytes, length: bytes.write(basicAuthorization(credential)) };
  });
  const given = Buffer.alloc(width);

  function callerWith(authorization: string): string | undefined {
    const givenLength = Buffer.byteLength(authorization);
    given.fill(0);
    given.write(authorization);
    let caller: string | undefined;
    for (const { id, bytes, length } of known) {
      if (timingSafeEqual(bytes, given) && length === givenLength) caller = id;
    }
    return caller;
  }

  return (authorization = '') => {
    const caller = callerWith(authorization);
    if (caller !== undefined) return caller;
    const decoded = parseBasic(authorization);
    const encoded = decoded === null ? undefined : callerWith(basicAuthorization(decoded));
    if (encoded !== undefined) return encoded;
    throw new Problem('unauthorized', { headers: { 'www-authenticate': 'Basic realm="tollgate-private"' } });
  };
}

export function requireServiceCredential(accepted: readonly ServiceCredential[]): RequestHandler {
  const authenticate = createServiceAuthentication(accepted);
  return (req, res, next) => {
    res.locals[CALLER_ID] = authenticate(req.headers.authorization);
    next();
  };
}

export function serviceCallerId(res: Pick<Response, 'locals'>): string {
  const caller: unknown = res.locals[CALLER_ID];
  if (typeof caller !== 'string') throw new Error('serviceCallerId without requireServiceCredential');
  return caller;
}
