import { queryOptions } from '@tanstack/react-query';
import { nullIf, resultOf, setCsrfToken } from '../../api/client.ts';
import { askForPasskey, createPasskey, plain } from '../../api/passkeys.ts';
import { operatorApi } from './client.ts';
import type { OperatorSession } from './client.ts';

/** Who is signed in; null without a session. */
export const operatorSessionQuery = queryOptions({
  queryKey: ['operator-session'],
  queryFn: async ({ signal }): Promise<OperatorSession | null> => {
    const session = await nullIf(401, resultOf(operatorApi.GET('/operator/api/session', { signal })));
    setCsrfToken(session?.csrf_token ?? null);
    return session;
  },
  staleTime: 60_000,
});

/** How operators can sign in here. */
export const waysQuery = queryOptions({
  queryKey: ['operator-sign-in'],
  queryFn: ({ signal }) => resultOf(operatorApi.GET('/operator/api/sign-in', { signal })),
});

/** @throws {ApiError} */
export async function signInByPasskey(): Promise<OperatorSession> {
  const options = await resultOf(operatorApi.POST('/operator/api/sign-in/passkey/options'));
  const credential = plain(await askForPasskey(options));
  return resultOf(operatorApi.POST('/operator/api/sign-in/passkey', { body: { credential } }));
}

/** Creates the passkey of an enrolment link. @throws {ApiError} */
export async function enrol(token: string): Promise<OperatorSession> {
  const options = await resultOf(operatorApi.POST('/operator/api/enrolment/options', { body: { token } }));
  const credential = plain(await createPasskey(options));
  return resultOf(operatorApi.POST('/operator/api/enrolment', { body: { token, credential } }));
}

/** @throws {ApiError} */
export function signInByLink(token: string): Promise<OperatorSession> {
  return resultOf(operatorApi.POST('/operator/api/sign-in/link', { body: { token } }));
}

/** Also where the session has ended by itself. @throws {ApiError} */
export function signOut(): Promise<unknown> {
  return nullIf(401, resultOf(operatorApi.DELETE('/operator/api/session')));
}

export type LinkInAddress = { purpose: 'enrol' | 'sign-in'; token: string };

/**
 * The token of a link is in the fragment, which no server and no log sees, and leaves the address at once: it would
 * stay in the browser's history.
 */
export function takeLinkFromAddress(): LinkInAddress | null {
  const [, purpose, token] = /^#(enrol|sign-in)=([\w-]{43})$/.exec(location.hash) ?? [];
  if (token === undefined) return null;
  history.replaceState(null, '', location.pathname);
  return { purpose: purpose === 'enrol' ? 'enrol' : 'sign-in', token };
}
