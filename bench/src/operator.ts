import { setTimeout as delay } from 'node:timers/promises';
import { basic } from './auth/auth-rates.ts';
import type { Servers } from './servers.ts';

export type FreshApplication = { id: number; token: string };

/** The account is the sample's unless given. */
export async function freshApplication(
  servers: Servers,
  accountId = servers.demo.account_id,
): Promise<FreshApplication> {
  const { demo } = servers;
  const made = await operate(servers, 'POST', '/private/applications', {
    account_id: accountId,
    name: 'bench',
    type: 'automatic',
    token_lifespan_sec: 3_600,
  });
  const answer = await fetch(`${demo.auth_url}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      scope: 'api',
      client_id: String(made['client_id']),
      client_secret: String(made['client_secret']),
    }),
  });
  if (!answer.ok) throw new Error(`the token endpoint answered ${String(answer.status)}`);
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return { id: Number(made['application_id']), token };
}

export async function revokeApplication(servers: Servers, id: number): Promise<void> {
  await operate(servers, 'POST', `/private/applications/${String(id)}/revoke`);
}

async function operate(
  { demo }: Servers,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const { account_url: url, client_id: id, client_secret: secret } = demo.private;
  const answer = await fetch(url + path, {
    method,
    headers: { ...basic(id, secret), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path} answered ${String(answer.status)}`);
  return (await answer.json()) as Record<string, unknown>;
}

/** @throws {Error} after the time limit */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  { everyMs = 20, limitMs = 60_000 } = {},
): Promise<void> {
  const startedMs = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedMs > limitMs) throw new Error(`${what}: not within ${String(limitMs)} ms`);
    await delay(everyMs);
  }
}
