import type { Demo } from './stack/stack.ts';

/** A request of account's operator API; throws where it isn't granted. */
export async function operate<T>(demo: Demo, method: string, path: string, body?: unknown): Promise<T> {
  const { account_url, client_id, client_secret } = demo.private;
  const response = await fetch(`${account_url}${path}`, {
    method,
    headers: {
      'x-reason': 'journey',
      authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${text}`);
  return (text === '' ? {} : JSON.parse(text)) as T;
}
