import type { HttpResponse } from '@tollgate/plain-http/message';

/** Cuts a response off by a reset: an orderly close could complete it (RFC 9112, section 8). */
export function cutAnswer(res: Pick<HttpResponse, 'socket' | 'destroy'>): void {
  // A pipelined response has no socket yet.
  if (res.socket === null) res.destroy();
  else res.socket.resetAndDestroy();
}
