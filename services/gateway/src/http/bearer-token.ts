import { Problem, invalidToken } from '@tollgate/http/problem';
import { fieldValues } from '@tollgate/http/request-head';

/** RFC 6750, section 2.1, with the scheme in any case (RFC 9110, section 11.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** The Authorization header's token. @throws {Problem} unauthorized for another scheme; invalid_request for two. */
export function bearerToken(rawHeaders: readonly string[]): string | undefined {
  const all = fieldValues(rawHeaders, 'authorization');
  // Two servers in a row may choose differently.
  if (all.length > 1) throw moreThanOneCredential();
  const [credentials] = all;
  if (credentials === undefined) return undefined;
  const token = BEARER.exec(credentials)?.[1];
  if (token !== undefined) return token;
  throw /^bearer(?: |$)/i.test(credentials) ? invalidToken() : new Problem('unauthorized');
}

function moreThanOneCredential(): Problem {
  return new Problem('invalid_request', {
    detail: 'There is more than one Authorization header.',
    headers: { 'www-authenticate': 'Bearer realm="tollgate", error="invalid_request"' },
  });
}

/** A request's bearer token, valid or not; undefined unless there is exactly one. */
export function presentedToken(rawHeaders: readonly string[]): string | undefined {
  try {
    return bearerToken(rawHeaders);
  } catch {
    return undefined;
  }
}
