import { accessTokenHash } from '@tollgate/credentials/access-token';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { Introspector } from '@tollgate/introspection';
import { repeatsHead } from '@tollgate/plain-http/message';
import type { HttpRequest } from '@tollgate/plain-http/message';
import { Problem, invalidToken } from '@tollgate/http/problem';
import { fieldValues } from '@tollgate/http/request-head';

/** RFC 6750, section 2.1, with the scheme in any case (RFC 9110, section 11.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** A promise only if the token isn't cached. */
export type Authenticate = (req: HttpRequest, requestId: string) => ActiveToken | Promise<ActiveToken>;

/**
 * Part 1 of a data call: the caller, by the Authorization header only.
 * @throws {Problem} unauthorized, for a bad Bearer token with `error="invalid_token"` (RFC 6750, section 3);
 * invalid_request for two Authorization headers; service_unavailable if auth doesn't respond.
 */
export function createAuthenticate({
  introspect,
  introspectCached,
}: Pick<Introspector, 'introspect' | 'introspectCached'>): Authenticate {
  // Of heads that repeat: the same token, whose state is still looked up for each request.
  const hashes = new WeakMap<readonly string[], string>();

  return (req, requestId) => {
    const repeats = repeatsHead(req);
    const remembered = repeats ? hashes.get(req.rawHeaders) : undefined;
    const cached = remembered === undefined ? undefined : introspectCached(remembered);
    if (cached !== undefined) return activeOf(cached);
    const token = bearerToken(req.rawHeaders);
    if (token === undefined) throw new Problem('unauthorized');
    const hash = accessTokenHash(token);
    if (repeats) hashes.set(req.rawHeaders, hash);
    const known = introspectCached(hash);
    return known === undefined ? introspect(token, requestId).then(activeOf) : activeOf(known);
  };
}

function activeOf(introspected: ActiveToken | null): ActiveToken {
  if (introspected === null) throw invalidToken();
  return introspected;
}

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
