import { arrivedAnswer } from './arrived-answer.ts';
import { api, resultOf } from './client.ts';
import type { Session } from './client.ts';
import type { components } from './schema.d.ts';

export type TestedSso = components['schemas']['TestedSso'];

/** Where a sign-in leads afterwards. Of this tab, to which the provider leads back. */
const NEXT = 'tollgate-sso-next';

/** Leaves for the identity provider of the team that has the address's domain. @throws {ApiError} */
export async function goToSso(email: string, next: string | undefined): Promise<void> {
  leaveFor(await resultOf(api.POST('/api/console/sign-in/sso', { body: { email } })), next);
}

/** Leaves for the identity provider of one's own team. @throws {ApiError} */
export async function goToSsoTest(): Promise<void> {
  leaveFor(await resultOf(api.POST('/api/console/team/sso/test')), undefined);
}

function leaveFor({ authorization_url }: { authorization_url: string }, next: string | undefined): void {
  if (next === undefined) sessionStorage.removeItem(NEXT);
  else sessionStorage.setItem(NEXT, next);
  location.assign(authorization_url);
}

export function nextAfterSso(): string | undefined {
  return sessionStorage.getItem(NEXT) ?? undefined;
}

/** @throws {ApiError} */
export function signInBySso(team_id: number): Promise<Session | TestedSso> {
  const body = { team_id, parameters: arrivedAnswer };
  return resultOf(api.POST('/api/console/session/sso', { body }));
}
