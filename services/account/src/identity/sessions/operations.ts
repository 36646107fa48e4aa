import { z } from 'zod';
import { anyone, operation, Reply } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import type { Request, Response } from 'express';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { lockAccount } from '../accounts/account-store.ts';
import { callerOf } from '../../http/caller-address.ts';
import type { BegunSession, SignInBrowser } from './complete-sign-in.ts';
import { csrfTokenOf } from './csrf-token.ts';
import { endSession, endSessions } from './end-sessions.ts';
import type { SessionTokens } from './end-sessions.ts';
import { closingSession, session } from './require-session.ts';
import type { SessionCookie } from './session-cookie.ts';
import { deleteSession, listSessions } from './session-store.ts';
import { signIn } from './sign-in.ts';
import type { SignInNeeds } from './sign-in.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { secondStepSchema, sessionListSchema, sessionSchema } from './answers.ts';
import { signInSchema } from './input.ts';
import type { Transact } from '../../platform/database/query.ts';

const COOKIE = { 'Set-Cookie': "The session's cookie." };

export const ownerSessions = {
  title: 'Sessions',
  description: 'Signing in and out, and the sessions of an account.',
  operations: [
    operation('POST /api/console/session', {
      operationId: 'signIn',
      summary: 'Sign in',
      description:
        'Ends the session that the browser had before. An account with two-factor authentication gets no session ' +
        'yet: complete the sign-in with one of `factors`.',
      caller: anyone,
      body: signInSchema,
      example: { email: 'ada@example.com', password: 'correct horse battery staple' },
      answers: {
        201: { description: 'The new session.', schema: sessionSchema, headers: COOKIE },
        202: { description: 'The password is right. A second step is needed.', schema: secondStepSchema },
      },
      problems: ['invalid_credentials', 'too_many_requests'],
      handle: async (needs: SignInNeeds & { cookie: SessionCookie }, { body, req, res }) => {
        const outcome = await signIn(needs, { ...body, ...browserOf(req, needs.cookie) }, callerOf(req, res));
        if (!('session' in outcome)) return new Reply(202, outcome);
        return new Reply(201, setSession(res, needs.cookie, outcome));
      },
    }),
    operation('GET /api/console/session', {
      operationId: 'getSession',
      summary: 'Get the current session',
      caller: closingSession,
      answers: { 200: { description: 'The session.', schema: sessionSchema } },
      handle: (_needs: unknown, { by }) => sessionAnswer(by),
    }),
    operation('DELETE /api/console/session', {
      operationId: 'signOut',
      summary: 'Sign out',
      caller: closingSession,
      answers: { 204: { description: 'The session has ended.', headers: COOKIE } },
      handle: async (
        { transact, cookie }: { transact: Transact; cookie: SessionCookie },
        { by: { account_id, session: own, actor }, res },
      ) => {
        await transact(async (inside) => {
          // A concurrent request may have ended it.
          if (!(await deleteSession(inside, account_id, own.session_id))) return;
          const entry = { ...actor, application_id: null, account_id, details: {} };
          await recordAudit(inside, { ...entry, action: 'signed_out' });
        });
        cookie.clear(res);
      },
    }),
    operation('GET /api/console/sessions', {
      operationId: 'listSessions',
      summary: 'List sessions, newest first',
      caller: session,
      answers: { 200: { description: 'The sessions.', schema: sessionListSchema } },
      handle: async ({ query, lifetimes }: Pick<SignInNeeds, 'query' | 'lifetimes'>, { by }) => {
        const found = await listSessions(query, by.account_id, lifetimes);
        const { session_id } = by.session;
        return { sessions: found.map((one) => ({ ...one, current: one.session_id === session_id })) };
      },
    }),
    operation('DELETE /api/console/sessions', {
      operationId: 'signOutEverywhere',
      summary: 'End all sessions, including this one',
      description: 'The temporary token ends, too.',
      caller: session,
      answers: { 204: { description: 'All sessions have ended.', headers: COOKIE } },
      handle: async (
        needs: SessionTokens & { transact: Transact; cookie: SessionCookie },
        { by: { account_id, actor }, res },
      ) => {
        const ended = await needs.transact(async (inside) => {
          await lockAccount(inside, account_id);
          const entry = { ...actor, application_id: null, account_id, details: {} };
          await recordAudit(inside, { ...entry, action: 'signed_out_everywhere' });
          return endSessions(needs, inside, { account_id, actor });
        });
        await Promise.all(ended.map((tell) => tell()));
        needs.cookie.clear(res);
      },
    }),
    operation('DELETE /api/console/sessions/{session_id}', {
      operationId: 'endSession',
      summary: 'End a session',
      description: 'The temporary token ends, too.',
      caller: session,
      params: z.object({ session_id: idParameter }),
      answers: { 204: { description: 'The session has ended.' } },
      handle: async (
        needs: SessionTokens & { transact: Transact },
        { by: { account_id, actor }, params: { session_id } },
      ) => {
        await endSession(needs, { account_id, actor, session_id });
      },
    }),
  ],
} satisfies Chapter;

export function sessionAnswer({ token, session: begun }: BegunSession) {
  const { account_id, email, name, email_verified_at, blocked_at, deletion_due_at } = begun.account;
  return {
    account_id,
    email,
    name,
    email_verified: email_verified_at !== null,
    blocked: blocked_at !== null,
    deletion_due_at,
    member_role: begun.member_of?.member_role ?? null,
    sso_required: begun.lacks_sso,
    session_id: begun.session_id,
    expires_at: begun.expires_at,
    csrf_token: csrfTokenOf(token),
  };
}

/** The browser of a sign-in, for its session. */
export function browserOf(req: Request, cookie: SessionCookie): SignInBrowser {
  return { userAgent: req.get('user-agent') ?? '', previousToken: cookie.read(req) };
}

/** Sets the session's cookie. @returns the answer */
export function setSession(res: Response, cookie: SessionCookie, begun: BegunSession) {
  cookie.set(res, begun.token, begun.session.expires_at);
  return sessionAnswer(begun);
}
