import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { hashOfToken, newSecretToken } from '../../src/identity/secret-token.ts';
import { csrfTokenOf } from '../../src/identity/sessions/csrf-token.ts';
import { singleRow } from '../../src/platform/database/single-row.ts';
import type { Answer } from './operator.ts';

/** What a browser keeps of the operators' console: its cookies, and the CSRF token of its session. */
export type OperatorBrowser = { cookies?: Record<string, string>; csrf?: string };

/** Below /operator/api, as the page calls it. */
export async function callConsole(
  { privateUrl }: Pick<ServiceProcess, 'privateUrl'>,
  browser: OperatorBrowser,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const cookies = Object.entries(browser.cookies ?? {});
  const response = await fetch(`${privateUrl}/operator/api${path}`, {
    method,
    headers: {
      ...(cookies.length === 0 ? {} : { cookie: cookies.map((pair) => pair.join('=')).join('; ') }),
      ...(browser.csrf === undefined ? {} : { 'x-csrf-token': browser.csrf }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  for (const set of response.headers.getSetCookie()) {
    const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=');
    const others = Object.entries(browser.cookies ?? {}).filter(([known]) => known !== name);
    browser.cookies = Object.fromEntries(value === '' ? others : [...others, [name, value]]);
  }
  if (typeof answer['csrf_token'] === 'string') browser.csrf = answer['csrf_token'];
  return { status: response.status, headers: response.headers, body: answer };
}

let inserted = 0;

/** Someone who has signed in, without the sign-in. */
export async function insertOperatorBrowser(
  database: Knex,
  role: OperatorRole,
): Promise<{ browser: Required<OperatorBrowser>; operator_id: number; session_id: number; name: string }> {
  inserted += 1;
  const name = `Operator of the suite ${String(inserted)}`;
  const email = `${randomUUID()}@operators.example`;
  const { operator_id } = singleRow(
    await database('operators')
      .insert({ name, email, local_role: role })
      .returning<{ operator_id: number }[]>('operator_id'),
  );
  const token = newSecretToken();
  const { session_id } = singleRow(
    await database('operator_sessions')
      .insert({
        token_hash: hashOfToken(token),
        operator_id,
        role,
        expires_at: new Date(Date.now() + 3_600_000),
        address: '192.0.2.1',
        user_agent: '',
      })
      .returning<{ session_id: number }[]>('session_id'),
  );
  const browser = { cookies: { tollgate_operator: token }, csrf: csrfTokenOf(token) };
  return { browser, operator_id, session_id, name };
}
