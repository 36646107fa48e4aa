import { IncomingMessage } from 'node:http';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';

/** How long a request may take to arrive, without a byte (`idleMs`) and as a whole. */
export type ReceiveLimits = {
  idleMs: number;
  totalMs: number;
};

/** Refuses a request of which no byte arrives for `idleMs`, by the sockets' timeouts: timers would cost more. */
export function refuseIdleRequests(
  server: Server,
  { lastAnswer }: Pick<Connections, 'lastAnswer'>,
  idleMs: number,
): void {
  server.setTimeout(idleMs, (socket) => {
    const res = lastAnswer(socket);
    // headersTimeout is for heads.
    if (res === null) return;
    const { req } = res;
    if (!(req instanceof IncomingMessage) || req.complete) {
      // An idle connection (keepAliveTimeout).
      if (res.writableFinished) socket.destroy();
    } else if (req.readableLength < req.readableHighWaterMark) {
      refuse(server, socket);
    }
    // Otherwise the handler doesn't read.
  });
}

function refuse(server: Server, socket: Socket): void {
  const timeout = Object.assign(new Error('request idle'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  server.emit('clientError', timeout, socket);
}
