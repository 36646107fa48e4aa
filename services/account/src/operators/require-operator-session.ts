import type { Request, RequestHandler, Response } from 'express';
import { Problem } from '@tollgate/http/problem';
import type { Caller } from '@tollgate/operation';
import { callerOf } from '../http/caller-address.ts';
import { CSRF_HEADER, isCsrfTokenOf } from '../identity/sessions/csrf-token.ts';
import { isUnsafe } from '../identity/sessions/same-origin.ts';
import type { SessionCookie } from '../identity/sessions/session-cookie.ts';
import type { SessionLifetimes } from '../identity/sessions/session-store.ts';
import type { Actor } from '../platform/audit/audit-log.ts';
import { noteOperator, operator } from '../platform/audit/private-callers.ts';
import type { Operator } from '../platform/audit/private-callers.ts';
import type { Query } from '../platform/database/query.ts';
import { findOperatorSession } from './session-store.ts';
import type { OperatorSite } from './settings.ts';
import type { OperatorSession } from './session-store.ts';

/** What operators' sessions are found by. */
export type OperatorSessionNeeds = {
  query: Query;
  operatorCookie: SessionCookie;
  /** `byProvider`: of those whose role an identity provider gives, which is read again at the next sign-in. */
  operatorLifetimes: SessionLifetimes & { byProvider: SessionLifetimes };
  operatorSite: OperatorSite;
};

export type SignedInOperator = Operator & { session: OperatorSession; token: string };

const signedIn = new WeakMap<Response, SignedInOperator>();

/**
 * A session below /operator/api, a credential below /private: neither is accepted in place of the other, and who sends
 * both is told so.
 * @throws {Problem} invalid_request
 */
export function oneKindOfCredential({
  operatorCookie,
}: Pick<OperatorSessionNeeds, 'operatorCookie'>): RequestHandler {
  return (req, _res, next) => {
    if (req.headers.authorization !== undefined && operatorCookie.read(req) !== undefined) {
      throw new Problem('invalid_request', { detail: "Send a session's cookie or a credential, not both." });
    }
    next();
  };
}

/** The browser's session; undefined without one. @throws {Problem} service_unavailable */
export async function liveSession(
  { query, operatorCookie, operatorLifetimes, operatorSite }: OperatorSessionNeeds,
  req: Request,
): Promise<{ session: OperatorSession; token: string } | undefined> {
  const { url, allowsLocal, issuer } = operatorSite;
  const token = url === undefined ? undefined : operatorCookie.read(req);
  const session =
    token === undefined ? undefined : await findOperatorSession(query, token, operatorLifetimes);
  if (token === undefined || session === undefined) return undefined;
  // Sessions from before such operators, their provider, or the console, were switched off don't outlast that.
  const isOn = session.issuer === null ? allowsLocal : session.issuer === issuer;
  return isOn ? { session, token } : undefined;
}

/**
 * Requires an operator's session and, for unsafe methods, its CSRF token.
 * @throws {Problem} unauthorized; csrf_token_required; service_unavailable
 */
export function requireOperatorSession(needs: OperatorSessionNeeds): RequestHandler {
  return async (req, res, next) => {
    // Below the path of views, where it was asked for before anything that may be served there.
    if (signedIn.has(res)) {
      next();
      return;
    }
    const live = await liveSession(needs, req);
    if (live === undefined) throw new Problem('unauthorized');
    const { session, token } = live;
    if (isUnsafe(req) && !isCsrfTokenOf(token, req.get(CSRF_HEADER))) {
      throw new Problem('csrf_token_required', {
        detail: 'Send the csrf_token of GET /operator/api/session in the X-CSRF-Token header.',
      });
    }
    const { address, request_id } = callerOf(req, res);
    const found = { actor: actorOf(session, { address, request_id }), role: session.role, session, token };
    signedIn.set(res, found);
    noteOperator(res, found);
    next();
  };
}

/** An operator who is a person, in the audit log. */
export function actorOf(
  { operator_id, name, issuer }: Pick<OperatorSession, 'operator_id' | 'name' | 'issuer'>,
  at: Pick<Actor, 'address' | 'request_id'>,
): Actor {
  return { actor: `operator:person/${String(operator_id)}`, ...at, person: { name, issuer } };
}

/** Undefined: the request has a credential. */
export function signedInOf(res: Response): SignedInOperator | undefined {
  return signedIn.get(res);
}

/** Someone who has signed in, with one of the operation's roles: a credential has no one to name. */
export const signedInOperator: Caller<SignedInOperator> = {
  name: 'operator',
  // The actor with the reason, which the session alone doesn't have.
  of: (req, res) => ({ ...operatorSession.of(req, res), ...operator.of(req, res) }),
};

/** The caller of operations about an operator's own session. */
export const operatorSession: Caller<SignedInOperator> = {
  name: 'operator-session',
  of: (_req, res) => {
    const found = signedIn.get(res);
    if (found === undefined) throw new Error('the endpoint is not behind requireOperatorSession');
    return found;
  },
};
