import type { Target } from './load.ts';
import type { Servers } from './servers.ts';

/** The same request to ours and to the peer. */
export type Rate = {
  name: string;
  /** What is counted, per second. */
  unit: string;
  peer: string;
  /** Times the peer's rate that ours is to reach (a goal, not a test). */
  targetRatio: number;
  prepare: (servers: Servers) => Promise<{ ours: Target; peer: Target }>;
  /** Whether one answer's JSON is the answer that is meant to be measured. */
  isRight: (answer: Record<string, unknown>) => boolean;
};

export const AUTH_RATES: Readonly<Record<'token' | 'introspect', Rate>> = {
  token: {
    name: 'token',
    unit: 'tokens/s',
    peer: 'oidc-provider',
    targetRatio: 2,
    prepare: (servers) => Promise.resolve(tokenTargets(servers)),
    isRight: ({ access_token: token, expires_in: seconds }) =>
      typeof token === 'string' && typeof seconds === 'number',
  },
  introspect: {
    name: 'introspect',
    unit: 'introspections/s',
    peer: 'oidc-provider',
    targetRatio: 2.5,
    prepare: introspectionTargets,
    isRight: ({ active }) => active === true,
  },
};

/** @throws {Error} when an answer isn't a 2xx, or not the right one. */
export async function expectRight({ url, headers, body }: Target, { isRight }: Pick<Rate, 'isRight'>) {
  const answer = await post(url, headers, body);
  if (!isRight(answer)) throw new Error(`${url} doesn't give the answer that is to be measured`);
}

function tokenTargets({ demo, auth, peer }: Servers): { ours: Target; peer: Target } {
  const { client_id, client_secret } = demo.application;
  const form = (id: string, secret: string) =>
    new URLSearchParams({
      grant_type: 'client_credentials',
      scope: 'api',
      client_id: id,
      client_secret: secret,
    }).toString();
  return {
    ours: {
      pid: auth.pid,
      url: `${demo.auth_url}/oauth2/token`,
      headers: {},
      body: form(client_id, client_secret),
    },
    peer: {
      pid: peer.pid,
      url: `${peer.url}/oauth2/token`,
      headers: {},
      body: form(peer.clientId, peer.clientSecret),
    },
  };
}

/** A token of the sample application, by our token endpoint. */
export async function accessToken(servers: Servers): Promise<string> {
  const { url, headers, body } = tokenTargets(servers).ours;
  const { access_token: token } = await post(url, headers, body);
  return String(token);
}

async function introspectionTargets(servers: Servers): Promise<{ ours: Target; peer: Target }> {
  const { demo, auth, peer } = servers;
  const tokens = tokenTargets(servers);
  const tokenFrom = async ({ url, headers, body }: Target) => {
    const { access_token: token } = await post(url, headers, body);
    return new URLSearchParams({ token: String(token) }).toString();
  };
  return {
    ours: {
      pid: auth.pid,
      url: `${demo.private.auth_url}/oauth2/introspect`,
      headers: basic(demo.private.client_id, demo.private.client_secret),
      body: await tokenFrom(tokens.ours),
    },
    peer: {
      pid: peer.pid,
      url: `${peer.url}/oauth2/introspect`,
      headers: basic(peer.clientId, peer.clientSecret),
      body: await tokenFrom(tokens.peer),
    },
  };
}

/** The ids and secrets of the sample need no form encoding. */
export function basic(id: string, secret: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`${url} answered ${String(response.status)}`);
  return (await response.json()) as Record<string, unknown>;
}
