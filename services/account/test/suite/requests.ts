import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { serviceCredential } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { unlessBusy } from '@tollgate/testbed/unless-busy';
import type { TestApplication } from './database/records.ts';

/** The token request of the source specification, section 4.1. */
export async function obtainToken(
  auth: Pick<ServiceProcess, 'publicUrl'>,
  { client_id, client_secret }: Pick<TestApplication, 'client_id' | 'client_secret'>,
): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'api' };
  const response = await unlessBusy(() =>
    fetch(`${auth.publicUrl}/oauth2/token`, { method: 'POST', body: new URLSearchParams(form) }),
  );
  const { access_token } = (await response.json()) as { access_token?: string };
  if (access_token === undefined) throw new Error(`no token: ${String(response.status)}`);
  return access_token;
}

/** With a token, or with the given headers. */
export function getUsage(
  account: Pick<ServiceProcess, 'publicUrl'>,
  token: string | Record<string, string>,
  periodId?: number | string,
): Promise<Response> {
  const headers = typeof token === 'string' ? { authorization: `Bearer ${token}` } : token;
  const query = periodId === undefined ? '' : `?period_id=${String(periodId)}`;
  return fetch(`${account.publicUrl}/api/usage${query}`, { headers });
}

/** With the service credential unless other headers are given. */
export function getPrivate(
  account: Pick<ServiceProcess, 'privateUrl'>,
  path: string,
  headers: Record<string, string> = { authorization: basicAuthorization(serviceCredential) },
): Promise<Response> {
  return fetch(`${account.privateUrl}${path}`, { headers });
}
