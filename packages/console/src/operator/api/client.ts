import createClient from 'openapi-fetch';
import type { Middleware } from 'openapi-fetch';
import { noteStatus } from '../../api/connection.ts';
import { noteServerTime } from '../../api/server-clock.ts';
import type { components, paths } from './schema.d.ts';

export type OperatorSession = components['schemas']['OperatorSession'];

let csrfToken: string | null = null;
let onSessionEnd: () => void = () => undefined;

/** Sets the token that unsafe requests carry; it belongs to the session. */
export function setCsrfToken(token: string | null): void {
  csrfToken = token;
}

/** Sets what happens when a request is refused because the session has ended. */
export function onSessionExpired(listener: () => void): void {
  onSessionEnd = listener;
}

/** Where a 401 says that there is no session, or that a sign-in failed. */
const BEFORE_SESSION = /^\/operator\/api\/(?:session|sign-in|enrolment)(?:\/|$)/;

const session: Middleware = {
  onRequest({ request }) {
    if (csrfToken !== null && request.method !== 'GET') request.headers.set('x-csrf-token', csrfToken);
    return request;
  },
  onResponse({ request, response }) {
    noteServerTime(response.headers.get('date'));
    noteStatus(response.status);
    if (response.status === 401 && !BEFORE_SESSION.test(new URL(request.url).pathname)) onSessionEnd();
    return response;
  },
};

/** The client of the operators' console: docs/openapi-operator-console.json types paths, bodies and answers. */
export const operatorApi = createClient<paths>({ baseUrl: '/', fetch: (request) => fetch(request) });
operatorApi.use(session);
