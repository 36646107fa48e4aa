import { isUtf8 } from 'node:buffer';
import { Problem } from '@tollgate/http/problem';
import { parseKeepingDigits } from './json.ts';
import { assertExactNames, assertShallow } from './protocol-names.ts';
import { putTexts } from './stored-documents.ts';
import type { FoundTexts } from './stored-documents.ts';

/** @throws {Problem} invalid_request */
export function textIn(body: Uint8Array): string {
  if (isUtf8(body)) return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
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
  return JSON.stringify(putTexts(parseKeepingDigits(text), found));
}
