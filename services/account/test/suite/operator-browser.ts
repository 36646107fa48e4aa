import type { ServiceProcess } from '@tollgate/testbed/service-process';
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
