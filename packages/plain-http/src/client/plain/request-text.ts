import { FIELD_NAME, FIELD_VALUE } from '../../message/plain-fields.ts';
import { keepEach } from '../../message/repeated-heads.ts';
import type { PoolRequest } from '../pool-request.ts';

const TARGET = /^\/[!-~]*$/;

/** Fields that change how a message or its connection is read; undici takes or refuses them. */
const FOR_UNDICI = new Set(['connection', 'expect', 'host', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** A few lengths rule out nearly all fields without making a string. */
const LENGTHS = new Set([...FOR_UNDICI].map((name) => name.length));
const CONTENT_LENGTH = 'content-length';
const NONE: readonly string[] = [];

/**
 * A request as it is sent, each character a byte: `GET` without a body, or `POST` with one in memory. Null for all
 * else, and for what undici might refuse.
 */
export function createRequestText(host: string): (request: PoolRequest) => string | null {
  const sharedText = keepEach((fields: readonly string[]) => fieldsText(fields, 0));
  return ({ method, path, sharedHeaders = NONE, headers, body }) => {
    const isPost = method === 'POST';
    if (!isPost && (method !== 'GET' || body !== null)) return null;
    if (body !== null && !Buffer.isBuffer(body)) return null;
    const first = sharedText(sharedHeaders);
    const others = fieldsText(headers, body?.length ?? 0);
    if (first === null || others === null || !TARGET.test(path)) return null;
    const head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${first}${others}`;
    if (body === null) return isPost ? `${head}content-length: 0\r\n\r\n` : `${head}\r\n`;
    return `${head}content-length: ${String(body.length)}\r\n\r\n${body.toString('latin1')}`;
  };
}

/** Without Content-Length, which must be the body's. */
function fieldsText(fields: readonly string[], bodyBytes: number): string | null {
  let text = '';
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index] ?? '';
    const value = fields[index + 1] ?? '';
    if (!FIELD_NAME.test(name) || !FIELD_VALUE.test(value)) return null;
    if (LENGTHS.has(name.length) && FOR_UNDICI.has(name.toLowerCase())) return null;
    if (name.length !== CONTENT_LENGTH.length || name.toLowerCase() !== CONTENT_LENGTH) {
      text += `${name}: ${value}\r\n`;
    } else if (value !== String(bodyBytes)) {
      return null;
    }
  }
  return text;
}
