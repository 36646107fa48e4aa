import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TcpServer } from 'node:net';
import type { Socket } from 'node:net';

/** Between two looks at which connections have become idle, during a shutdown. */
const SWEEP_INTERVAL_MS = 100;

export type DrainLimits = {
  /**
   * A kept connection that is idle gets so long for the request that may be on its way already: closed at
   * once, that request would be lost, and its caller couldn't know whether it was done (RFC 9112, section 9.5).
   */
  idleGraceMs: number;
  /** Connections that are still open then are cut, answers under way included. */
  cutAfterMs: number;
};

export type Connections = {
  /** To be told of each request. */
  began: (req: IncomingMessage, res: ServerResponse) => void;
  /** The answer under way on a connection, or its last one. */
  lastAnswer: (socket: Socket) => ServerResponse | null;
  /** Accepts nothing new, and resolves when every connection is gone. */
  drain: (limits: DrainLimits) => Promise<void>;
};

/** An answer under way is cut by a reset: an orderly close could complete it (RFC 9112, section 8). */
function cutOff(socket: Socket, res: ServerResponse | null): void {
  if (res === null || !res.headersSent || res.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}

/** Knows a server's connections and what is under way on them, so that they can be ended without losing a call. */
export function trackConnections(server: Server): Connections {
  const answers = new Map<Socket, ServerResponse | null>();
  let draining = false;
  server.on('connection', (socket) => {
    answers.set(socket, null);
    socket.once('close', () => {
      answers.delete(socket);
    });
  });

  /** Those under way say `Connection: close`; where the head has gone without it, the end of the answer says so. */
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

  /**
   * The server counts a connection out before that connection's own `close`, by which its call learns that it
   * is over, and settles. A turn later all of them know.
   */
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
        const grace = setTimeout(() => {
          sweep = setInterval(() => {
            server.closeIdleConnections();
          }, SWEEP_INTERVAL_MS);
          server.closeIdleConnections();
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
