import { queryOptions } from '@tanstack/react-query';
import { nullIf, resultOf, setCsrfToken } from '../../api/client.ts';
import { askForPasskey, createPasskey, plain } from '../../api/passkeys.ts';
import { serverNowMs } from '../../api/server-clock.ts';
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

/** After signing out, the provider must ask who it is: it may still know. Of this tab only. */
const SIGNED_OUT = 'tollgate-operator-signed-out';

/** Where the operator was when this tab left for the identity provider; and, if it was asked silently, that it was. */
const LEFT = 'tollgate-operator-left';
const SILENT = 'tollgate-operator-silent';

/** Leaves for the identity provider, whose answer comes back as {@link takeAnswerFromAddress}. @throws {ApiError} */
export async function goToProvider(): Promise<void> {
  await leaveForProvider({ again: sessionStorage.getItem(SIGNED_OUT) !== null, silent: false });
}

async function leaveForProvider(body: { again: boolean; silent: boolean }): Promise<void> {
  const { authorization_url } = await resultOf(
    operatorApi.POST('/operator/api/sign-in/oidc/authorization', { body }),
  );
  sessionStorage.setItem(LEFT, location.pathname + location.search);
  if (body.silent) sessionStorage.setItem(SILENT, '1');
  else sessionStorage.removeItem(SILENT);
  location.assign(authorization_url);
}

/** The session whose role this tab has had read again: one that fails isn't tried with each page. */
const CHECKED = 'tollgate-operator-checked';

/** Past its half, so that hardly any session ends in the middle of something. */
function isRoleDue({ session_id, issuer, created_at, expires_at }: OperatorSession): boolean {
  const [from, until] = [Date.parse(created_at), Date.parse(expires_at)];
  return (
    issuer !== null &&
    serverNowMs() > (from + until) / 2 &&
    sessionStorage.getItem(CHECKED) !== String(session_id)
  );
}

/** Has the identity provider say the role again, without a page of it, and comes back. */
export function checkRole(session: OperatorSession): void {
  if (!isRoleDue(session)) return;
  sessionStorage.setItem(CHECKED, String(session.session_id));
  // The session goes on until its end.
  leaveForProvider({ again: false, silent: true }).catch(() => undefined);
}

/** @throws {ApiError} */
export async function signInByAnswer(parameters: string): Promise<OperatorSession> {
  const session = await resultOf(operatorApi.POST('/operator/api/sign-in/oidc', { body: { parameters } }));
  sessionStorage.removeItem(SIGNED_OUT);
  return session;
}

/**
 * Also where the session has ended by itself. Null: nothing is left to do; otherwise the browser must go to the address
 * to sign out of the identity provider too. @throws {ApiError}
 */
export async function signOut(): Promise<string | null> {
  const ended = await nullIf(401, resultOf(operatorApi.DELETE('/operator/api/session')));
  sessionStorage.setItem(SIGNED_OUT, '1');
  return ended?.end_session_url ?? null;
}

/** `silent`: the operator hasn't asked for it, so that nothing is said if it fails. */
export type AnswerInAddress = { parameters: string; silent: boolean };

/**
 * What the identity provider has answered. It works once, and only with this browser's cookie; it leaves the address at
 * once all the same, as a reload would send it again.
 */
export function takeAnswerFromAddress(): AnswerInAddress | null {
  if (location.pathname !== '/operator/oidc/callback') return null;
  const parameters = location.search.slice(1);
  const silent = sessionStorage.getItem(SILENT) !== null;
  history.replaceState(null, '', sessionStorage.getItem(LEFT) ?? '/operator/');
  sessionStorage.removeItem(SILENT);
  sessionStorage.removeItem(LEFT);
  return { parameters, silent };
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
