import { z } from 'zod';
import type { ApiChapter } from '../../http/operation.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { sessionListSchema, sessionSchema } from './answers.ts';
import { signInSchema } from './input.ts';

const COOKIE = { 'Set-Cookie': "The session's cookie." };

export const sessionApi: ApiChapter = {
  title: 'Sessions',
  description: 'Signing in and out of the console, and where one is signed in.',
  operations: {
    'POST /api/console/session': {
      operationId: 'signIn',
      summary: 'Signs in',
      description: 'Whatever session the browser had before ends.',
      caller: 'anyone',
      body: signInSchema,
      example: { email: 'ada@example.com', password: 'correct horse battery staple' },
      answers: { 201: { description: 'The new session.', schema: sessionSchema, headers: COOKIE } },
      problems: ['invalid_credentials', 'too_many_requests'],
    },
    'GET /api/console/session': {
      operationId: 'getSession',
      summary: 'Who is signed in',
      caller: 'session',
      answers: { 200: { description: 'The session.', schema: sessionSchema } },
    },
    'DELETE /api/console/session': {
      operationId: 'signOut',
      summary: 'Signs out',
      caller: 'session',
      answers: { 204: { description: 'The session has ended.', headers: COOKIE } },
    },
    'GET /api/console/sessions': {
      operationId: 'listSessions',
      summary: 'Where one is signed in, newest first',
      caller: 'session',
      answers: { 200: { description: 'The sessions.', schema: sessionListSchema } },
    },
    'DELETE /api/console/sessions': {
      operationId: 'signOutEverywhere',
      summary: 'Signs out everywhere, here included',
      caller: 'session',
      answers: { 204: { description: 'All sessions have ended.', headers: COOKIE } },
    },
    'DELETE /api/console/sessions/{session_id}': {
      operationId: 'endSession',
      summary: 'Ends one session',
      caller: 'session',
      params: z.object({ session_id: idParameter }),
      answers: { 204: { description: 'It has ended.' } },
    },
  },
};
