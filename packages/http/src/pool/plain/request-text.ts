import type { PoolRequest } from '../http-pool.ts';

const TARGET = /^\/[!-~]*$/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t -~\x80-\xff]*$/;

/** Fields that change how a message or its connection is read; undici takes or refuses them. */
const FOR_UNDICI = new Set(['connection', 'expect', 'host', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** A few lengths rule out nearly all fields without making a string. */
const LENGTHS = new Set([...FOR_UNDICI].map((name) => name.length));
const CONTENT_LENGTH = 'content-length';

/**
 * A request as it is sent, each character a byte: `GET` without a body, or `POST` with one in memory. Null for all
 * else, and for what undici might refuse.
 */
export function requestText(host: string, { method, path, headers, body }: PoolRequest): string | null {
  const isPost = method === 'POST';
  if (!isPost && (method !== 'GET' || body !== null)) return null;
  if (body !== null && !Buffer.isBuffer(body)) return null;
  if (!TARGET.test(path)) return null;
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const value = headers[index + 1] ?? '';
    if (!NAME.test(name) || !VALUE.test(value)) return null;
    if (LENGTHS.has(name.length) && FOR_UNDICI.has(name.toLowerCase())) return null;
    if (name.length === CONTENT_LENGTH.length && name.toLowerCase() === CONTENT_LENGTH) {
      if (value !== String(body?.length ?? 0)) return null;
    } else {
      text += `${name}: ${value}\r\n`;
    }
  }
  if (body === null) return isPost ? `${text}content-length: 0\r\n\r\n` : `${text}\r\n`;
  return `${text}content-length: ${String(body.length)}\r\n\r\n${body.toString('latin1')}`;
}
