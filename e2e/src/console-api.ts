import type { Stack } from './stack/stack.ts';

export type Ask = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

/** The console's API as a signed-in browser calls it; throws where it isn't granted. */
export function openConsole({ demo }: Pick<Stack, 'demo'>): Ask {
  const url = `${new URL(demo.console.url).origin}/api/console`;
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  return async (method, path, body) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(url + path, { method, headers, ...sent });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${text}`);
    const [cookie] = response.headers.getSetCookie();
    if (cookie !== undefined) headers['cookie'] = cookie.split(';', 1)[0] ?? '';
    const answer = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    if (typeof answer['csrf_token'] === 'string') headers['x-csrf-token'] = answer['csrf_token'];
    return answer;
  };
}
