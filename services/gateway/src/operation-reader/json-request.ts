import { isUtf8 } from 'node:buffer';
import { Problem } from '@tollgate/http/problem';
import { isObject } from './json.ts';
import { itemTexts, rewritten } from './json-text.ts';
import { assertExactNames, assertShallow } from './protocol-names.ts';
import { withText } from './stored-documents.ts';
import type { FoundTexts } from './stored-documents.ts';

/** @throws {Problem} invalid_request */
export function textIn(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  // What isn't UTF-8 is decoded so, but so can a text be written.
  if (!text.includes('\uFFFD') || isUtf8(body)) return text;
  throw new Problem('invalid_request', { detail: 'The body must be UTF-8.' });
}

/** @throws {Problem} invalid_request */
export function requestIn(text: string): unknown {
  assertShallow(text);
  const request = parsed(text);
  assertExactNames(text);
  return request;
}

/** @throws {Problem} invalid_request */
export function parsed(json: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(json);
  } catch {
    throw new Problem('invalid_request', { detail: 'The request is not valid JSON.' });
  }
}

/** The JSON of a request with the texts of the documents that it names. */
export function withTextsPut(text: string, found: FoundTexts): string {
  const sent: unknown = JSON.parse(text);
  if (!Array.isArray(sent)) return withTextPut(text, sent, found[0] ?? null);
  const requests = itemTexts(text).map((each, index) => withTextPut(each, sent[index], found[index] ?? null));
  return `[${requests.join()}]`;
}

function withTextPut(text: string, sent: unknown, found: FoundTexts[number]): string {
  if (found === null || !isObject(sent)) return text;
  return rewritten(text, sent, withText(sent, found));
}
