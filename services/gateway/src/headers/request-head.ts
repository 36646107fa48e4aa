import type { IncomingMessage } from 'node:http';
import { Problem } from '@tollgate/problem';

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
 * Refuses what two servers in a row could read differently, beyond what the HTTP parser refuses already
 * (two lengths, a length beside chunks, folded lines).
 * @throws {Problem} invalid_request for a target that isn't a path (RFC 9112, section 3.2: the gateway is no
 * forward proxy), for more than one Host field (section 3.2), for a transfer coding but `chunked`.
 */
export function assertSoundHead(head: RequestHead): void {
  if (!head.url?.startsWith('/')) {
    throw ambiguous('The request target must be a path.');
  }
  if (fieldValues(head.rawHeaders, 'host').length > 1) {
    throw ambiguous('There is more than one Host header.');
  }
  const codings = fieldValues(head.rawHeaders, 'transfer-encoding');
  if (codings.length > 1 || (codings[0] !== undefined && codings[0].toLowerCase() !== 'chunked')) {
    throw ambiguous('The only transfer coding supported is chunked.');
  }
}

/** What follows on the connection may be read differently, too: it ends here. */
function ambiguous(detail: string): Problem {
  return new Problem('invalid_request', { detail, headers: { connection: 'close' } });
}
