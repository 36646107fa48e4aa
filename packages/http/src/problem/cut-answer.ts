import type { ServerResponse } from 'node:http';

/** Cuts a response off by a reset: an orderly close could complete it (RFC 9112, section 8). */
export function cutAnswer(res: ServerResponse): void {
  // A pipelined response has no socket yet.
  if (res.socket === null) res.destroy();
  else res.socket.resetAndDestroy();
}
