import type { Request, RequestHandler, Response } from 'express';
import { Problem } from '@tollgate/http/problem';
import { idParameter } from '../../http/input/id-parameter.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { callerOf } from './caller-address.ts';
import { csrfTokenOf } from './csrf-token.ts';
import { signInSchema } from './input.ts';
import { signedIn } from './require-session.ts';
import type { SessionCookie } from './session-cookie.ts';
import { endAllSessions, endSession, listSessions } from './session-store.ts';
import type { BegunSession, SignInBrowser } from './complete-sign-in.ts';
import { signIn } from './sign-in.ts';
import type { SignInParts } from './sign-in.ts';

/** Sessions under `/api/console`. All: `Cache-Control: no-store`; 503 while Postgres is unavailable. */

export type SessionParts = SignInParts & { cookie: SessionCookie };

export function sessionAnswer({ token, session }: BegunSession) {
  const { account_id, email, name, email_verified_at, blocked_at, deletion_due_at } = session.account;
  return {
    account_id,
    email,
    name,
    email_verified: email_verified_at !== null,
    blocked: blocked_at !== null,
    deletion_due_at,
    session_id: session.session_id,
    expires_at: session.expires_at,
    csrf_token: csrfTokenOf(token),
  };
}

/** The browser of a sign-in, for its session. */
export function browserOf(req: Request, cookie: SessionCookie): SignInBrowser {
  return { userAgent: req.get('user-agent') ?? '', previousToken: cookie.read(req) };
}

/** 201, the session and its cookie. */
export function sendSession(res: Response, cookie: SessionCookie, begun: BegunSession): void {
  cookie.set(res, begun.token, begun.session.expires_at);
  res.status(201).json(sessionAnswer(begun));
}

/**
 * `POST /api/console/session` with `{email, password}`: 201, the session and its cookie. Ends the browser's previous
 * session. 202 `{sign_in_token, factors, expires_at}` if the account has a second factor: no session yet. 401
 * `invalid_credentials`, 429 `too_many_requests` with Retry-After.
 */
export function signInEndpoint(parts: SessionParts): RequestHandler {
  const { cookie } = parts;
  return async (req, res) => {
    const wanted = { ...bodyOf(req, signInSchema), ...browserOf(req, cookie) };
    const outcome = await signIn(parts, wanted, callerOf(req, res));
    if ('session' in outcome) sendSession(res, cookie, outcome);
    else res.status(202).json(outcome);
  };
}

/** `GET /api/console/session`: 200, or 401 `unauthorized` without a session. */
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

/** `GET /api/console/sessions`: 200 `{sessions}`, newest first; `last_seen_at` is accurate to a minute. */
export function listSessionsEndpoint({ query, lifetimes }: SessionParts): RequestHandler {
  return async (_req, res) => {
    const { account_id, session } = signedIn(res);
    const sessions = await listSessions(query, account_id, lifetimes);
    res.json({
      sessions: sessions.map((one) => ({ ...one, current: one.session_id === session.session_id })),
    });
  };
}

/** `DELETE /api/console/sessions`: ends all sessions, including this one. 204. */
export function signOutEverywhereEndpoint({ query, cookie }: SessionParts): RequestHandler {
  return async (_req, res) => {
    await endAllSessions(query, signedIn(res).account_id);
    cookie.clear(res);
    res.status(204).end();
  };
}

/** `DELETE /api/console/sessions/{session_id}`: 204; 404 if the account has no such session. */
export function endSessionEndpoint({ query }: SessionParts): RequestHandler {
  return async (req, res) => {
    const sessionId = idParameter.safeParse(req.params['session_id']);
    if (!sessionId.success || !(await endSession(query, signedIn(res).account_id, sessionId.data))) {
      throw new Problem('not_found');
    }
    res.status(204).end();
  };
}
