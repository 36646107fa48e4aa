import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';

/** How long a request may take to come in. Its answer may take as long as it likes. */
export type ReceiveLimits = {
  /** Between two of its bytes. */
  idleMs: number;
  /** From its first byte to its last. */
  totalMs: number;
};

/**
 * Refuses a request of which no byte has come for so long, like one that takes too long in all (ERR_HTTP_REQUEST_TIMEOUT
 * of node:http). By the sockets' own timeouts, which each byte sets anew: a timer for each request would cost more.
 */
export function refuseIdleRequests(
  server: Server,
  { lastAnswer }: Pick<Connections, 'lastAnswer'>,
  idleMs: number,
): void {
  server.setTimeout(idleMs, (socket) => {
    const res = lastAnswer(socket);
    // The head is on its way still: headersTimeout.
    if (res === null) return;
    const { req } = res;
    if (req.complete) {
      // A kept connection on which no further request has come (keepAliveTimeout).
      if (res.writableFinished) socket.destroy();
    } else if (req.readableLength < req.readableHighWaterMark) {
      refuse(server, socket);
    }
    // Otherwise it is the handler that doesn't read on.
  });
}

function refuse(server: Server, socket: Socket): void {
  const timeout = Object.assign(new Error('request idle'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  server.emit('clientError', timeout, socket);
}
