import type { HttpResponse } from '@tollgate/plain-http/message';

type OpenStream = Pick<HttpResponse, 'socket' | 'destroy' | 'once'>;

/**
 * Ends an open stream when its caller sends no more. Such a caller may still read (RFC 9112, section 9.6), and gets any
 * other answer, but one that has left looks the same until something is sent, and a stream may be silent and costs
 * meanwhile (docs/design/listeners.md).
 */
export function endWithCaller(res: OpenStream): void {
  const { socket } = res;
  if (socket === null) return;
  const end = () => {
    res.destroy();
  };
  if (socket.readableEnded) {
    setImmediate(end);
    return;
  }
  socket.once('end', end);
  res.once('close', () => {
    socket.off('end', end);
  });
}
