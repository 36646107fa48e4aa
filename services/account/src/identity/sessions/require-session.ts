import type { RequestHandler, Response } from 'express';
import type { AccessLog } from '@tollgate/log/access-log';
import { Problem } from '@tollgate/http/problem';
import type { Caller } from '@tollgate/operation';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { callerOf } from '../../http/caller-address.ts';
import { CSRF_HEADER, isCsrfTokenOf } from './csrf-token.ts';
import { isUnsafe } from './same-origin.ts';
import type { SessionCookie } from './session-cookie.ts';
import { findSession } from './session-store.ts';
import type { LiveSession, SessionLifetimes } from './session-store.ts';

export type SignedIn = {
  account_id: number;
  session: LiveSession;
  /** The session's secret; sent only in the cookie. */
  token: string;
  actor: Actor;
  /** Whether an operator views as the account: then what could hold a secret is left out of answers. */
  isView: boolean;
};

const signedInOf = new WeakMap<Response, SignedIn>();

type SessionNeeds = { query: Query; cookie: SessionCookie; lifetimes: SessionLifetimes };

type RequestWithCookie = Parameters<SessionCookie['read']>[0];

/**
 * Express middleware: requires a session and, for unsafe methods, its CSRF token, so that no endpoint can forget the
 * check. Refused, unless `whileClosed`: an account that is being deleted, and a session that lacks the single sign-on
 * that the team wants.
 * @throws {Problem} unauthorized; csrf_token_required; account_deletion_pending; sso_required; service_unavailable
 */
export function requireSession({
  whileClosed = false,
  ...needs
}: SessionNeeds & { whileClosed?: boolean }): RequestHandler {
  return async (req, res, next) => {
    const found = await sessionOf(needs, req);
    if (found === undefined) throw new Problem('unauthorized');
    const { token, session } = found;
    if (isUnsafe(req) && !isCsrfTokenOf(token, req.get(CSRF_HEADER))) {
      throw new Problem('csrf_token_required', {
        detail: 'Send the csrf_token of GET /api/console/session in the X-CSRF-Token header.',
      });
    }
    if (session.account.deletion_due_at !== null && !whileClosed) {
      throw new Problem('account_deletion_pending');
    }
    if (session.lacks_sso && !whileClosed) throw new Problem('sso_required');
    const { account_id } = session.account;
    const { address, request_id } = callerOf(req, res);
    const actor = { actor: `account:${String(account_id)}`, address, request_id };
    signedInOf.set(res, { account_id, session, token, actor, isView: false });
    next();
  };
}

/** For pages that answer either way. @throws {Problem} (the promise) service_unavailable */
export function createIsSignedIn(needs: SessionNeeds): (req: RequestWithCookie) => Promise<boolean> {
  return async (req) => (await sessionOf(needs, req))?.session.lacks_sso === false;
}

/** Of the browser's cookie, if there is one. @throws {Problem} service_unavailable */
export async function sessionOf(
  { query, cookie, lifetimes }: SessionNeeds,
  req: RequestWithCookie,
): Promise<{ token: string; session: LiveSession } | undefined> {
  const token = cookie.read(req);
  const session = token === undefined ? undefined : await findSession(query, token, lifetimes);
  return token === undefined || session === undefined ? undefined : { token, session };
}

/** An operator who views as the account, which is no session of it (operators/view-as/enter-view.ts). */
export function noteViewed(res: Response, viewed: SignedIn): void {
  signedInOf.set(res, viewed);
}

export function noteSignedIn(accessLog: Pick<AccessLog, 'note'>): RequestHandler {
  return (req, res, next) => {
    res.once('close', () => {
      const found = signedInOf.get(res);
      if (found !== undefined) accessLog.note(req, { account_id: found.account_id });
    });
    next();
  };
}

function signedIn(res: Response): SignedIn {
  const found = signedInOf.get(res);
  if (found === undefined) throw new Error('the endpoint is not behind requireSession');
  return found;
}

/** The caller of operations for a signed-in person. */
export const session: Caller<SignedIn> = { name: 'session', of: (_req, res) => signedIn(res) };

/**
 * The same, where the plan, payments and usage of an account are concerned: a member whose role is `billing` acts for
 * the manager's account, in their own name.
 */
export const billingSession: Caller<SignedIn> = {
  name: 'session',
  of: (_req, res) => {
    const by = signedIn(res);
    return { ...by, account_id: billedAccountOf(by) };
  },
};

/** The account whose plan, payments and usage someone who is signed in may see and change. */
export function billedAccountOf({ account_id, session: { member_of } }: SignedIn): number {
  return member_of?.member_role === 'billing' ? member_of.manager_id : account_id;
}

/** The same, also while the account is being deleted, or has to sign in by single sign-on. */
export const closingSession: Caller<SignedIn> = { name: 'closing-session', of: session.of };
