import type { Request, RequestHandler, Response } from 'express';
import { Problem } from '@tollgate/http/problem';
import { idOf } from '../../http/input/id-parameter.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { lockAccount } from '../accounts/account-store.ts';
import { callerOf } from '../../http/caller-address.ts';
import { csrfTokenOf } from './csrf-token.ts';
import { endOneSession, endSessions } from './end-sessions.ts';
import type { SessionEndParts } from './end-sessions.ts';
import { signInSchema } from './input.ts';
import { signedIn } from './require-session.ts';
import type { SessionCookie } from './session-cookie.ts';
import { deleteSession, listSessions } from './session-store.ts';
import type { BegunSession, SignInBrowser } from './complete-sign-in.ts';
import { signIn } from './sign-in.ts';
import type { SignInParts } from './sign-in.ts';

/** Sessions under `/api/console`. All: `Cache-Control: no-store`; 503 while Postgres is unavailable. */

export type SessionParts = SignInParts & SessionEndParts & { cookie: SessionCookie };

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
export function signOutEndpoint({ transact, cookie }: SessionParts): RequestHandler {
  return async (_req, res) => {
    const { account_id, session, actor } = signedIn(res);
    await transact(async (inside) => {
      // A concurrent request may have ended it.
      if (!(await deleteSession(inside, account_id, session.session_id))) return;
      const entry = { ...actor, application_id: null, account_id, details: {} };
      await recordAudit(inside, { ...entry, action: 'signed_out' });
    });
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

/** `DELETE /api/console/sessions`: ends all sessions, including this one, and the temporary token. 204. */
export function signOutEverywhereEndpoint(parts: SessionParts): RequestHandler {
  return async (_req, res) => {
    const { account_id, actor } = signedIn(res);
    const ended = await parts.transact(async (inside) => {
      await lockAccount(inside, account_id);
      const entry = { ...actor, application_id: null, account_id, details: {} };
      await recordAudit(inside, { ...entry, action: 'signed_out_everywhere' });
      return endSessions(parts, inside, { account_id, actor });
    });
    await Promise.all(ended.map((tell) => tell()));
    parts.cookie.clear(res);
    res.status(204).end();
  };
}

/**
 * `DELETE /api/console/sessions/{session_id}`: ends one, and the temporary token. 204; 404 if the account has no such
 * session.
 */
export function endSessionEndpoint(parts: SessionParts): RequestHandler {
  return async (req, res) => {
    const { account_id, actor } = signedIn(res);
    const session_id = idOf(req, 'session_id');
    const ended = await parts.transact(async (inside) => {
      await lockAccount(inside, account_id);
      const changes = await endOneSession(parts, inside, { account_id, actor, session_id });
      if (changes === undefined) throw new Problem('not_found');
      const entry = { ...actor, application_id: null, account_id, details: { session_id } };
      await recordAudit(inside, { ...entry, action: 'session_ended' });
      return changes;
    });
    await Promise.all(ended.map((tell) => tell()));
    res.status(204).end();
  };
}
