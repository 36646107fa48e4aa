import type { AuthPeer } from './auth-peer.ts';
import type { Target } from '../load/load.ts';
import type { Servers } from '../servers.ts';

export type Rate = {
  name: string;
  unit: string;
  /** Times oidc-provider's rate that ours should reach (a goal, not a test); the other peers have none. */
  targetRatio: number;
  ours: (servers: Servers, auth: OurAuth) => Promise<Target>;
  ofPeer: (peer: AuthPeer) => Promise<Target>;
  /** Whether the response is the one that is meant to be measured. */
  isRight: (answer: Record<string, unknown>) => boolean;
};

export const AUTH_RATES: Readonly<Record<'token' | 'introspect', Rate>> = {
  token: {
    name: 'token',
    unit: 'tokens/s',
    targetRatio: 6,
    ours: (servers, auth) => Promise.resolve(ourTokenTarget(servers, auth)),
    ofPeer: (peer) => Promise.resolve(tokenTarget(peer)),
    isRight: ({ access_token: token, expires_in: seconds }) =>
      typeof token === 'string' && typeof seconds === 'number',
  },
  introspect: {
    name: 'introspect',
    unit: 'introspections/s',
    targetRatio: 10,
    ours: ourIntrospectionTarget,
    ofPeer: introspectionTarget,
    isRight: ({ active }) => active === true,
  },
};

export type OurAuth = { pid: number; url: string; privateUrl: string };

/** The stack's, with a log line per request. */
export function stackAuth({ demo, auth }: Pick<Servers, 'demo' | 'auth'>): OurAuth {
  return { pid: auth.pid, url: demo.auth_url, privateUrl: demo.private.auth_url };
}

const quiet = new WeakMap<Servers, ReturnType<Servers['startFurther']>>();

/** A further one without a log line per request, like the peers. */
export function quietAuth(servers: Servers): Promise<OurAuth> {
  const known = quiet.get(servers) ?? servers.startFurther('auth', { settings: { LOG_LEVEL: 'warn' } });
  quiet.set(servers, known);
  return known;
}

/** @throws {Error} unless the response is a 2xx and the right one */
export async function expectRight({ url, headers, body }: Target, { isRight }: Pick<Rate, 'isRight'>) {
  const answer = await post(url, headers, body);
  if (!isRight(answer)) throw new Error(`${url} doesn't give the answer that is to be measured`);
}

type Client = { tokenUrl: string; clientId: string; clientSecret: string };

function tokenTarget({ pid, tokenUrl, clientId, clientSecret }: Client & { pid: number }): Target {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    scope: 'api',
    client_id: clientId,
    client_secret: clientSecret,
  });
  return { pid, url: tokenUrl, headers: {}, body: body.toString() };
}

function ourTokenTarget({ demo }: Servers, { pid, url }: OurAuth): Target {
  const { client_id: clientId, client_secret: clientSecret } = demo.application;
  return tokenTarget({ pid, tokenUrl: `${url}/oauth2/token`, clientId, clientSecret });
}

async function tokenOf({ url, headers, body }: Target): Promise<string> {
  const { access_token: token } = await post(url, headers, body);
  return String(token);
}

export function accessToken(servers: Servers): Promise<string> {
  return tokenOf(ourTokenTarget(servers, stackAuth(servers)));
}

async function ourIntrospectionTarget(servers: Servers, { pid, privateUrl }: OurAuth): Promise<Target> {
  const { demo } = servers;
  return {
    pid,
    url: `${privateUrl}/oauth2/introspect`,
    headers: basic(demo.private.client_id, demo.private.client_secret),
    body: new URLSearchParams({ token: await accessToken(servers) }).toString(),
  };
}

async function introspectionTarget(peer: AuthPeer): Promise<Target> {
  return {
    pid: peer.pid,
    url: peer.introspectionUrl,
    headers: peer.introspectsByBasic ? basic(peer.clientId, peer.clientSecret) : {},
    body: new URLSearchParams({ token: await tokenOf(tokenTarget(peer)) }).toString(),
  };
}

/** The sample's ids and secrets need no form encoding. */
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
