import type { ServerResponse } from 'node:http';

/**
 * Ends an answer that can't be completed, by a reset of its connection: an orderly close would complete one that
 * ends with its connection (RFC 9112, section 8).
 */
export function cutAnswer(res: ServerResponse): void {
  // A pipelined answer has no connection yet.
  if (res.socket === null) res.destroy();
  else res.socket.resetAndDestroy();
}
