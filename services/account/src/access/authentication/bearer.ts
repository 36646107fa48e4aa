import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import { DATA_SCOPE, MCP_SCOPE } from '@tollgate/contracts/resource-servers';
import type { Introspector } from '@tollgate/introspection';
import type { AccessLog } from '@tollgate/log/access-log';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import { Problem, invalidToken } from '@tollgate/http/problem';
import type { Caller } from '@tollgate/operation';

/** RFC 6750, 2.1; the scheme is case-insensitive (RFC 9110, 11.1). */
const BEARER = /^bearer(?: +([^ ].*)?)?$/i;
const B64TOKEN = /^[A-Za-z0-9\-._~+/]{1,512}=*$/;

/**
 * Only the Authorization header counts, as URLs end up in logs.
 * @throws {Problem} unauthorized: `error="invalid_token"` if a token was sent (RFC 6750, 3.1)
 * @throws {Problem} forbidden: the token lacks the scopes `api` and `mcp`
 * @throws {Problem} service_unavailable: auth is unavailable
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
  // An agent reads its own usage (docs/design/agents.md).
  const scopes = active.scope.split(' ');
  if (!scopes.includes(DATA_SCOPE) && !scopes.includes(MCP_SCOPE)) throw insufficientScope();
  return active;
}

function insufficientScope(): Problem {
  const challenge = `Bearer realm="tollgate", error="insufficient_scope", scope="${DATA_SCOPE}"`;
  return new Problem('forbidden', { headers: { 'www-authenticate': challenge } });
}

const tokens = new WeakMap<Request, ActiveToken>();

/** Express middleware: requires an access token, and notes it in the access log. @throws {Problem} as authenticateBearer */
export function requireToken(
  introspect: Introspector['introspect'],
  accessLog: Pick<AccessLog, 'note'> | null,
): RequestHandler {
  return async (req, res, next) => {
    const active = await authenticateBearer(introspect, req, res.get(REQUEST_ID_HEADER));
    const { account_id, application_id } = active;
    accessLog?.note(req, { account_id, application_id });
    tokens.set(req, active);
    next();
  };
}

/** The caller of operations for programs. */
export const token: Caller<ActiveToken> = {
  name: 'token',
  of: (req) => {
    const active = tokens.get(req);
    if (active === undefined) throw new Error('the operation is not behind requireToken');
    return active;
  },
};
