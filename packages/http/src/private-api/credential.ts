import { timingSafeEqual } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import { parseBasic } from '../forms/basic.ts';
import { Problem } from '../problem/problem.ts';

/** A caller of a private listener, sent as HTTP Basic (RFC 7617). */
export type ServiceCredential = { id: string; secret: string };

/** Where the caller's id is in res.locals. */
const CALLER_ID = 'serviceCallerId';

/** The Authorization header for a service credential. */
export function basicAuthorization({ id, secret }: ServiceCredential): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

/** The id of the caller that an Authorization header belongs to. */
export type AuthenticateService = (authorization: string | undefined) => string;

/**
 * Lets only the given service credentials pass. They may be form-encoded, as OAuth's clients send them
 * (RFC 6749, section 2.3.1), or plain, as curl does. All accepted credentials are compared, in constant time,
 * so that timing tells neither id nor secret; it tells which of the two forms was right.
 *
 * @throws {Problem} (the function that it returns) unauthorized, with a Basic challenge
 */
export function createServiceAuthentication(accepted: readonly ServiceCredential[]): AuthenticateService {
  const headers = accepted.map(basicAuthorization);
  // All are compared in the length of the longest, filled up with zeros: a digest of each would have one length
  // too, at five times the cost.
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

/** createServiceAuthentication as Express middleware. */
export function requireServiceCredential(accepted: readonly ServiceCredential[]): RequestHandler {
  const authenticate = createServiceAuthentication(accepted);
  return (req, res, next) => {
    res.locals[CALLER_ID] = authenticate(req.headers.authorization);
    next();
  };
}

/** The id of the caller that requireServiceCredential has let pass. */
export function serviceCallerId(res: Pick<Response, 'locals'>): string {
  const caller: unknown = res.locals[CALLER_ID];
  if (typeof caller !== 'string') throw new Error('serviceCallerId without requireServiceCredential');
  return caller;
}
