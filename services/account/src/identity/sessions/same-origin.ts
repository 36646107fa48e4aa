import type { Request, RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';

/** Safe methods (RFC 9110, section 9.2.1). */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export function isUnsafe({ method }: Pick<Request, 'method'>): boolean {
  return !SAFE_METHODS.has(method);
}

/**
 * Refuses unsafe requests that a browser sends for another origin, and bodies that a form could send: sign-in and
 * sign-up, which have no session yet, have no other protection. Browsers send Sec-Fetch-Site or, if older or without
 * TLS, Origin. A program that sends neither has no cookies that another site could use. `trustsHost`: an origin that is
 * the request's own host is accepted too, for installations with several addresses. `alsoReads`: safe requests of other
 * origins are refused too.
 * @throws {Problem} forbidden; unsupported_media_type
 */
export function sameOriginOnly(
  publicUrl: string,
  { trustsHost = true, alsoReads = false } = {},
): RequestHandler {
  const { origin } = new URL(publicUrl);
  return (req, _res, next) => {
    if ((alsoReads || isUnsafe(req)) && !isSameOrigin(req, origin, trustsHost)) {
      throw new Problem('forbidden', { detail: 'The request comes from another origin.' });
    }
    if (isUnsafe(req) && hasBody(req) && req.is('application/json') === false) {
      throw new Problem('unsupported_media_type', { detail: 'The content type must be application/json.' });
    }
    next();
  };
}

/** A browser's fetch without a body sends `Content-Length: 0`, which Express' `is` takes for a body. */
function hasBody(req: Request): boolean {
  return req.get('transfer-encoding') !== undefined || Number(req.get('content-length') ?? 0) !== 0;
}

function isSameOrigin(req: Request, publicOrigin: string, trustsHost: boolean): boolean {
  const site = req.get('sec-fetch-site');
  // `none`: the user's own action, for instance a reload.
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const origin = req.get('origin');
  if (origin === undefined || origin === publicOrigin) return true;
  return trustsHost && URL.canParse(origin) && new URL(origin).host === req.host;
}
