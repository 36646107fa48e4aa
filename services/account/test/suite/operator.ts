import { randomBytes } from 'node:crypto';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import type { ServiceProcess } from '@tollgate/testbed/service-process';

const credential = { id: 'suite-operator', secret: randomBytes(24).toString('base64url') };

export const operatorCredentials = `${credential.id}:${credential.secret}`;

export const operatorAuthorization = basicAuthorization(credential);

export type Answer = { status: number; headers: Headers; body: Record<string, unknown> };

/** `path` follows `/private/applications`. */
export function operate(
  account: Pick<ServiceProcess, 'privateUrl'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return operatePath(account, method, `/private/applications${path}`, body, headers);
}

export async function operatePath(
  account: Pick<ServiceProcess, 'privateUrl'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${account.privateUrl}${path}`, {
    method,
    headers: {
      authorization: operatorAuthorization,
      // Needed by some operations, allowed with every change.
      'x-reason': 'suite',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

export type MadeApplication = {
  path: string;
  application_id: number;
  client_id: string;
  client_secret: string;
};

export async function makeApplication(
  account: Pick<ServiceProcess, 'privateUrl'>,
  account_id: number,
): Promise<MadeApplication> {
  const wanted = { account_id, name: 'App', type: 'automatic', token_lifespan_sec: 3_600 };
  const { status, body } = await operate(account, 'POST', '', wanted);
  if (status !== 201) throw new Error(`no application: ${String(status)}`);
  const made = body as { application_id: number; client_id: string; client_secret: string };
  return { ...made, path: `/${String(made.application_id)}` };
}
