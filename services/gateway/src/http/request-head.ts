import type { IncomingMessage } from 'node:http';
import { Problem } from '@tollgate/http/problem';

/** The part of a request that its head is. */
export type RequestHead = Pick<IncomingMessage, 'rawHeaders' | 'url'>;

/** Every value of a field, in order, as received. `name` is in lower case. */
export function fieldValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const given = rawHeaders[index];
    // The length rules out nearly all fields without making a string.
    if (given?.length === name.length && given.toLowerCase() === name)
      values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}

/** The request target's path, as received: not decoded, without the query string. */
export function pathOf({ url }: Pick<IncomingMessage, 'url'>): string {
  if (url === undefined) return '';
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** The request target's query string with its question mark, or nothing. */
export function queryOf({ url }: Pick<IncomingMessage, 'url'>): string {
  const start = url?.indexOf('?') ?? -1;
  return start === -1 ? '' : (url?.slice(start) ?? '');
}

/**
 * Refuses what two servers in a row could read differently, beyond what the HTTP parser (two lengths, a length
 * beside chunks, folded lines) and the listener (the target, Host) refuse already.
 * @throws {Problem} invalid_request for a transfer coding but `chunked`.
 */
export function assertSoundHead(head: RequestHead): void {
  const codings = fieldValues(head.rawHeaders, 'transfer-encoding');
  if (codings.length > 1 || (codings[0] !== undefined && codings[0].toLowerCase() !== 'chunked')) {
    throw new Problem('invalid_request', {
      detail: 'The only transfer coding supported is chunked.',
      // What follows on the connection may be read differently, too: it ends here.
      headers: { connection: 'close' },
    });
  }
}
