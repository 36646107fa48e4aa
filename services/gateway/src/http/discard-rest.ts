import { cutAnswer } from '@tollgate/http/cut-answer';
import { isWhole } from '@tollgate/plain-http/message';
import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';

const DISCARD_MAX_BYTES = 8_388_608;
const DISCARD_TIMEOUT_MS = 5_000;

/**
 * Discards the rest of a body after the response, within limits, and then cuts the connection off. A close with
 * bytes unread resets the connection, and the caller could lose the response (RFC 9112, section 9.6).
 */
export function discardRest(req: HttpRequest, res: HttpResponse): void {
  if (isWhole(req)) return;
  if (req.readableEnded || req.destroyed) return;
  req.resume();
  if (req.complete) return;
  let left = DISCARD_MAX_BYTES;
  const { socket } = req;
  const cut = () => {
    if (res.writableFinished) socket.destroy();
    else cutAnswer(res);
  };
  const overdue = setTimeout(cut, DISCARD_TIMEOUT_MS);
  overdue.unref();
  const done = () => {
    clearTimeout(overdue);
  };
  req.once('end', done).once('close', done);
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
}
