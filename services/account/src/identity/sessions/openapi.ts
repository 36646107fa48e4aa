import { z } from 'zod';
import type { ApiChapter } from '../../http/operation.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { secondStepSchema, sessionListSchema, sessionSchema } from './answers.ts';
import { signInSchema } from './input.ts';

const COOKIE = { 'Set-Cookie': "The session's cookie." };

export const sessionApi: ApiChapter = {
  title: 'Sessions',
  description: 'Signing in and out, and the sessions of an account.',
  operations: {
    'POST /api/console/session': {
      operationId: 'signIn',
      summary: 'Sign in',
      description:
        'Ends the session that the browser had before. An account with two-factor authentication gets no session ' +
        'yet: complete the sign-in with one of `factors`.',
      caller: 'anyone',
      body: signInSchema,
      example: { email: 'ada@example.com', password: 'correct horse battery staple' },
      answers: {
        201: { description: 'The new session.', schema: sessionSchema, headers: COOKIE },
        202: { description: 'The password is right. A second step is needed.', schema: secondStepSchema },
      },
      problems: ['invalid_credentials', 'too_many_requests'],
    },
    'GET /api/console/session': {
      operationId: 'getSession',
      summary: 'Get the current session',
      caller: 'session',
      answers: { 200: { description: 'The session.', schema: sessionSchema } },
    },
    'DELETE /api/console/session': {
      operationId: 'signOut',
      summary: 'Sign out',
      caller: 'session',
      answers: { 204: { description: 'The session has ended.', headers: COOKIE } },
    },
    'GET /api/console/sessions': {
      operationId: 'listSessions',
      summary: 'List sessions, newest first',
      caller: 'session',
      answers: { 200: { description: 'The sessions.', schema: sessionListSchema } },
    },
    'DELETE /api/console/sessions': {
      operationId: 'signOutEverywhere',
      summary: 'End all sessions, including this one',
      description: 'The temporary token ends, too.',
      caller: 'session',
      answers: { 204: { description: 'All sessions have ended.', headers: COOKIE } },
    },
    'DELETE /api/console/sessions/{session_id}': {
      operationId: 'endSession',
      summary: 'End a session',
      description: 'The temporary token ends, too.',
      caller: 'session',
      params: z.object({ session_id: idParameter }),
      answers: { 204: { description: 'The session has ended.' } },
    },
  },
};
