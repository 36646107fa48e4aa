import type { IncomingMessage } from 'node:http';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { Introspector } from '@tollgate/introspection';
import { Problem, invalidToken } from '@tollgate/http/problem';

/** The scope that a token needs (source specification, part 5). */
const REQUIRED_SCOPE = 'api';

/** RFC 6750, section 2.1; the scheme's name is case-insensitive (RFC 9110, section 11.1). */
const BEARER = /^bearer(?: +(.*))?$/i;
const B64TOKEN = /^[A-Za-z0-9\-._~+/]{1,512}=*$/;

/**
 * The active access token of a request. Only the Authorization header counts: a token in a URL or a body is
 * no token, for URLs end up in logs.
 *
 * @throws {Problem} unauthorized: a bare challenge without a bearer token, `error="invalid_token"` with one
 *   that is malformed, unknown, expired or revoked (RFC 6750, section 3.1).
 * @throws {Problem} forbidden: the token lacks the scope `api`.
 * @throws {Problem} service_unavailable: auth can't be asked.
 */
export async function authenticateBearer(
  introspect: Introspector['introspect'],
  req: Pick<IncomingMessage, 'headers'>,
  requestId: string | undefined,
): Promise<ActiveToken> {
  const credentials = BEARER.exec(req.headers.authorization ?? '');
  if (credentials === null) throw new Problem('unauthorized');
  const token = credentials[1]?.trim() ?? '';
  if (!B64TOKEN.test(token)) throw invalidToken();
  const active = await introspect(token, requestId);
  if (active === null) throw invalidToken();
  if (!active.scope.split(' ').includes(REQUIRED_SCOPE)) throw insufficientScope();
  return active;
}

function insufficientScope(): Problem {
  const challenge = `Bearer realm="tollgate", error="insufficient_scope", scope="${REQUIRED_SCOPE}"`;
  return new Problem('forbidden', { headers: { 'www-authenticate': challenge } });
}
