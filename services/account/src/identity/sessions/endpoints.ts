import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { idParameter } from '../../http/input/id-parameter.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { callerOf } from './caller-address.ts';
import { csrfTokenOf } from './csrf-token.ts';
import { signInSchema } from './input.ts';
import { signedIn } from './require-session.ts';
import type { SessionCookie } from './session-cookie.ts';
import { endAllSessions, endSession, listSessions } from './session-store.ts';
import { signIn } from './sign-in.ts';
import type { BegunSession, SignInParts } from './sign-in.ts';

/** Sessions under `/api/console`. Every answer is never to be stored. 503 while Postgres is away. */

export type SessionParts = SignInParts & { cookie: SessionCookie };

/**
 * What `GET /api/console/session` says: `account_id`, `email`, `name`, `email_verified`, `blocked` (it may see and
 * pay, and make no tokens), `session_id`, `expires_at`, and the `csrf_token` that every unsafe request of the
 * session must send in the header X-CSRF-Token.
 */
export function sessionAnswer({ token, session }: BegunSession) {
  const { account_id, email, name, email_verified_at, blocked_at } = session.account;
  return {
    account_id,
    email,
    name,
    email_verified: email_verified_at !== null,
    blocked: blocked_at !== null,
    session_id: session.session_id,
    expires_at: session.expires_at,
    csrf_token: csrfTokenOf(token),
  };
}

/**
 * `POST /api/console/session` with `{email, password}`: signs in. 201, the session and its cookie; whatever
 * session the browser had before ends. 401 `invalid_credentials`, 429 `too_many_requests` with Retry-After.
 */
export function signInEndpoint(parts: SessionParts): RequestHandler {
  const { cookie } = parts;
  return async (req, res) => {
    const { email, password } = bodyOf(req, signInSchema);
    const userAgent = req.get('user-agent') ?? '';
    const begun = await signIn(
      parts,
      { email, password, userAgent, previousToken: cookie.read(req) },
      callerOf(req, res),
    );
    cookie.set(res, begun.token, begun.session.expires_at);
    res.status(201).json(sessionAnswer(begun));
  };
}

/** `GET /api/console/session`: who is signed in. 401 `unauthorized` where nobody is. */
export const sessionEndpoint: RequestHandler = (_req, res) => {
  res.json(sessionAnswer(signedIn(res)));
};

/** `DELETE /api/console/session`: signs out. 204. */
export function signOutEndpoint({ query, cookie }: SessionParts): RequestHandler {
  return async (_req, res) => {
    const { account_id, session } = signedIn(res);
    await endSession(query, account_id, session.session_id);
    cookie.clear(res);
    res.status(204).end();
  };
}

/**
 * `GET /api/console/sessions`: 200 `{sessions: [{session_id, current, created_at, last_seen_at, expires_at,
 * address, user_agent}]}`, newest first. `last_seen_at` is exact to a minute.
 */
export function listSessionsEndpoint({ query, lifetimes }: SessionParts): RequestHandler {
  return async (_req, res) => {
    const { account_id, session } = signedIn(res);
    const sessions = await listSessions(query, account_id, lifetimes);
    res.json({
      sessions: sessions.map((one) => ({ ...one, current: one.session_id === session.session_id })),
    });
  };
}

/** `DELETE /api/console/sessions`: signs out everywhere, here included. 204. */
export function signOutEverywhereEndpoint({ query, cookie }: SessionParts): RequestHandler {
  return async (_req, res) => {
    await endAllSessions(query, signedIn(res).account_id);
    cookie.clear(res);
    res.status(204).end();
  };
}

/** `DELETE /api/console/sessions/{session_id}`: ends one session. 204; 404 for one that isn't the account's. */
export function endSessionEndpoint({ query }: SessionParts): RequestHandler {
  return async (req, res) => {
    const sessionId = idParameter.safeParse(req.params['session_id']);
    if (!sessionId.success || !(await endSession(query, signedIn(res).account_id, sessionId.data))) {
      throw new Problem('not_found');
    }
    res.status(204).end();
  };
}
