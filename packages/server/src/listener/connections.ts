import type { Server } from 'node:http';
import { Server as TcpServer } from 'node:net';
import type { Socket } from 'node:net';
import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';

const SWEEP_INTERVAL_MS = 100;

export type DrainLimits = {
  /** How long an idle connection stays open for a request that may be on its way (RFC 9112, section 9.5). */
  idleGraceMs: number;
  /** When the connections that are still open are cut off. */
  cutAfterMs: number;
};

export type Connections = {
  began: (req: HttpRequest, res: HttpResponse) => void;
  /** The response under way on a connection, or its last one. */
  lastAnswer: (socket: Socket) => HttpResponse | null;
  drain: (limits: DrainLimits) => Promise<void>;
};

/** An orderly close could complete the response (RFC 9112, section 8). */
function cutOff(socket: Socket, res: HttpResponse | null): void {
  if (res === null || !res.headersSent || res.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}

/** `closeIdle` ends the connections that the server doesn't know. */
export function trackConnections(server: Server, closeIdle: () => void): Connections {
  const answers = new Map<Socket, HttpResponse | null>();
  let draining = false;
  server.on('connection', (socket) => {
    answers.set(socket, null);
    socket.once('close', () => {
      answers.delete(socket);
    });
  });

  /** Responses under way say `Connection: close`, or end the connection if their head has been sent. */
  function endAfterAnswers(): void {
    for (const [socket, res] of answers) {
      if (res === null || res.writableFinished) continue;
      if (!res.headersSent) res.shouldKeepAlive = false;
      else
        res.once('finish', () => {
          socket.destroySoon();
        });
    }
  }

  /** The server's `close` comes before those of connections, with which their calls end and settle. */
  function whenAllHaveClosed(done: () => void): void {
    if (answers.size > 0) setImmediate(whenAllHaveClosed, done);
    else setImmediate(done);
  }

  return {
    began: (req, res) => {
      answers.set(req.socket, res);
      if (draining) res.shouldKeepAlive = false;
    },
    lastAnswer: (socket) => answers.get(socket) ?? null,
    drain: ({ idleGraceMs, cutAfterMs }) =>
      new Promise((resolve) => {
        draining = true;
        if (!server.listening) {
          resolve();
          return;
        }
        endAfterAnswers();
        let sweep: NodeJS.Timeout | undefined;
        const closeAllIdle = () => {
          server.closeIdleConnections();
          closeIdle();
        };
        const grace = setTimeout(() => {
          sweep = setInterval(closeAllIdle, SWEEP_INTERVAL_MS);
          closeAllIdle();
        }, idleGraceMs);
        const cut = setTimeout(() => {
          for (const [socket, res] of answers) cutOff(socket, res);
        }, cutAfterMs);
        server.once('close', () => {
          clearTimeout(grace);
          clearTimeout(cut);
          clearInterval(sweep);
          whenAllHaveClosed(resolve);
        });
        // The HTTP server's own close would end idle connections at once.
        TcpServer.prototype.close.call(server);
      }),
  };
}
