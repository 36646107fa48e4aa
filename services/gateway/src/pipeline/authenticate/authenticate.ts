import { accessTokenHash } from '@tollgate/credentials/access-token';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { Introspector } from '@tollgate/introspection';
import { isWhole } from '@tollgate/plain-http/message';
import type { HttpRequest } from '@tollgate/plain-http/message';
import { keepPerHead } from '@tollgate/plain-http/repeated-heads';
import { Problem, invalidToken } from '@tollgate/http/problem';
import type { AssertAudience } from './audience.ts';
import type { AccessFacts } from '@tollgate/log/access-log';
import { bearerToken } from '../../http/bearer-token.ts';

/** A promise only if the token isn't cached. */
export type Authenticate = (req: HttpRequest, requestId: string) => ActiveToken | Promise<ActiveToken>;

/**
 * Authenticates a call: its caller, by the Authorization header only.
 * @throws {Problem} unauthorized, for a bad Bearer token, or one for another resource server, with
 * `error="invalid_token"` (RFC 6750, section 3); forbidden without the scope;
 * invalid_request for two Authorization headers; service_unavailable if auth doesn't respond.
 */
export function createAuthenticate(
  { introspect, introspectCached }: Pick<Introspector, 'introspect' | 'introspectCached'>,
  assertAudience: AssertAudience,
): Authenticate {
  function activeOf(introspected: ActiveToken | null): ActiveToken {
    if (introspected === null) throw invalidToken();
    assertAudience(introspected);
    return introspected;
  }

  const hashOf = keepPerHead((req) => accessTokenHash(tokenOf(req)));
  return (req, requestId) => {
    const hash = hashOf(req);
    const known = introspectCached(hash);
    if (known === undefined) return introspect(tokenOf(req), requestId).then(activeOf);
    // Only while its token is cached: what drops the token from then on drops the head (open-authenticate.ts).
    if (isWhole(req)) {
      if (known === null) req.forgetHead();
      else if (req.mayKeepHead) req.keepHead([hash, known.client_id]);
    }
    return activeOf(known);
  };
}

function tokenOf({ rawHeaders }: Pick<HttpRequest, 'rawHeaders'>): string {
  const token = bearerToken(rawHeaders);
  if (token === undefined) throw new Problem('unauthorized');
  return token;
}

/** What the access log says of a caller. */
export function whoOf({ account_id, application_id }: ActiveToken): AccessFacts {
  return { account_id, application_id };
}
