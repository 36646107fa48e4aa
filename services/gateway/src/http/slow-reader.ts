import type { HttpResponse } from '@tollgate/plain-http/message';

type Reading = Pick<HttpResponse, 'writableLength' | 'socket' | 'destroyed'> & {
  once: (event: 'close', listener: () => void) => unknown;
};

/** Of what awaits a caller, it must take as much in the time, or all of it: about 52 kbit/s with 10 s. */
const MIN_TAKEN_BYTES = 65_536;

const guarded = new WeakSet<Reading>();

/**
 * Calls `cut` once the caller takes less of its answer than it must, however it trickles: the answer holds a connection
 * to another server meanwhile. An answer that the other server is slow to give isn't cut. A second call changes nothing.
 */
export function guardAgainstSlowReader(res: Reading, timeoutMs: number, cut: () => void): void {
  if (guarded.has(res)) return;
  guarded.add(res);
  let { taken, pending } = progressOf(res);
  const timer = setInterval(() => {
    const now = progressOf(res);
    if (now.taken - taken < Math.min(pending, MIN_TAKEN_BYTES)) {
      clearInterval(timer);
      cut();
    }
    ({ taken, pending } = now);
  }, timeoutMs);
  res.once('close', () => {
    clearInterval(timer);
  });
}

/** In bytes. An answer without a socket waits for another one of its connection, and isn't taken either. */
function progressOf({ socket, writableLength }: Reading): { taken: number; pending: number } {
  if (socket === null) return { taken: 0, pending: writableLength };
  return { taken: socket.bytesWritten - socket.writableLength, pending: writableLength };
}
