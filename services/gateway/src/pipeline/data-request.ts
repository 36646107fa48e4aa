import type { IncomingMessage } from 'node:http';
import { Problem } from '@tollgate/http/problem';
import { fieldValues } from '@tollgate/http/request-head';
import { isCostsPath } from '../http/data-paths.ts';
import { assertSoundHead } from '../http/sound-head.ts';

const READING: readonly string[] = ['GET'];
const CALLING: readonly string[] = ['GET', 'POST'];

/**
 * Checks without I/O that a request can be forwarded.
 * @throws {Problem} invalid_request; method_not_allowed for methods other than POST and GET, and POST where costs are read.
 */
export function assertDataRequest(req: Pick<IncomingMessage, 'method' | 'rawHeaders' | 'url'>): void {
  assertSoundHead(req);
  const methods = isCostsPath(req) ? READING : CALLING;
  if (!methods.includes(req.method ?? '')) {
    throw new Problem('method_not_allowed', { headers: { allow: methods.join(', ') } });
  }
  if (req.method === 'POST') return;
  if (fieldValues(req.rawHeaders, 'upgrade').some((value) => /\bwebsocket\b/i.test(value))) {
    throw new Problem('invalid_request', {
      detail: 'A WebSocket needs `Connection: Upgrade` and `Upgrade: websocket`.',
    });
  }
  assertBodiless(req);
}

/** @throws {Problem} invalid_request for a GET with a body. */
export function assertBodiless(req: Pick<IncomingMessage, 'rawHeaders'>): void {
  // A GET's body has no meaning (RFC 9110, section 9.3.1), and servers differ in whether they read it.
  const length = fieldValues(req.rawHeaders, 'content-length')[0];
  const chunked = fieldValues(req.rawHeaders, 'transfer-encoding').length > 0;
  if (chunked || (length !== undefined && !/^0+$/.test(length))) {
    throw new Problem('invalid_request', {
      detail: 'A GET takes its query from the URL and has no body; use POST to send one.',
    });
  }
}
