import { accessTokenHash } from '@tollgate/credentials/access-token';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { Introspector } from '@tollgate/introspection';
import { repeatsHead } from '@tollgate/plain-http/message';
import type { HttpRequest } from '@tollgate/plain-http/message';
import { Problem, invalidToken } from '@tollgate/http/problem';
import type { AccessFacts } from '@tollgate/log/access-log';
import { bearerToken } from '../../http/bearer-token.ts';

/** A promise only if the token isn't cached. */
export type Authenticate = (req: HttpRequest, requestId: string) => ActiveToken | Promise<ActiveToken>;

/**
 * Authenticates a call: its caller, by the Authorization header only.
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

/** What the access log says of a caller. */
export function whoOf({ account_id, application_id }: ActiveToken): AccessFacts {
  return { account_id, application_id };
}
