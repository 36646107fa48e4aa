import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { serviceCredential } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';

type Credentials = { client_id: string; client_secret: string };

/** Source specification, section 4.1. */
export function tokenForm({ client_id, client_secret }: Credentials): Record<string, string> {
  return { grant_type: 'client_credentials', client_id, client_secret, scope: 'api' };
}

export function postToken(
  service: Pick<ServiceProcess, 'publicUrl'>,
  form: Readonly<Record<string, string>> | string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${service.publicUrl}/oauth2/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body:
      typeof form === 'string' || form instanceof Uint8Array ? form : new URLSearchParams(form).toString(),
  });
}

/** Without a Content-Length. */
export function postTokenInChunks(
  service: Pick<ServiceProcess, 'publicUrl'>,
  form: Readonly<Record<string, string>>,
  query = '',
): Promise<Response> {
  const init: RequestInit = {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new Response(new URLSearchParams(form).toString()).body,
    duplex: 'half',
  };
  return fetch(`${service.publicUrl}/oauth2/token${query}`, init);
}

/** @throws {Error} if no token is granted */
export async function obtainToken(
  service: Pick<ServiceProcess, 'publicUrl'>,
  client: Credentials,
): Promise<string> {
  const response = await postToken(service, tokenForm(client));
  const { access_token } = (await response.json()) as { access_token?: string };
  if (access_token === undefined) throw new Error(`no token: ${String(response.status)}`);
  return access_token;
}

export function postIntrospection(
  service: Pick<ServiceProcess, 'privateUrl'>,
  form: Readonly<Record<string, string>> | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${service.privateUrl}/oauth2/introspect`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: basicAuthorization(serviceCredential),
      ...headers,
    },
    body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
  });
}

/** The value of a counter in /metrics; 0 if it has none yet. */
export async function counter(
  service: Pick<ServiceProcess, 'privateUrl'>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const metrics = await (await fetch(`${service.privateUrl}/metrics`)).text();
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = metrics
    .split('\n')
    .find((text) => text.startsWith(`${name}{`) && wanted.every((label) => text.includes(label)));
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** account's notification that a client has changed. */
export function postClientChange(
  service: Pick<ServiceProcess, 'privateUrl'>,
  clientId: string,
  change: Readonly<Record<string, unknown>> | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const common = { change: 'application', client_id: clientId, source: 'account' };
  return fetch(`${service.privateUrl}/private/client-changes`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: basicAuthorization(serviceCredential),
      ...headers,
    },
    body: typeof change === 'string' ? change : JSON.stringify({ ...common, ...change }),
  });
}

/** @throws {Error} if auth doesn't tell */
export async function isActive(service: Pick<ServiceProcess, 'privateUrl'>, token: string): Promise<boolean> {
  const response = await postIntrospection(service, { token });
  if (response.status !== 200) throw new Error(`introspection answered ${String(response.status)}`);
  return ((await response.json()) as { active: boolean }).active;
}
