import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpHandler } from '../message/http-message.ts';
import { FastConnection } from './fast-connection.ts';
import { createRecentHeads } from '../message/recent-heads.ts';
import type { RecentHeads } from '../message/recent-heads.ts';
import type { ReadLimits, ReadRequestHead, RequestHead } from './read-request.ts';

export type { HeadLimits } from './read-request.ts';

export type RequestHeads = RecentHeads<ReadRequestHead>;

export const createRequestHeads = createRecentHeads<ReadRequestHead>;

/** A listener's requests that handlers can serve without node:http. */
export type FastPath = {
  /** Who serves requests with this head; null for node:http. */
  handlerOf: (head: RequestHead) => HttpHandler | null;
  /** Of this listener alone, as a head is read by its limits. By default no head is kept beyond its connection. */
  recentHeads?: RequestHeads | undefined;
};

export type FastPathOptions = FastPath & {
  /** Called with each request before its handler. */
  onRequest: HttpHandler;
  limits: ReadLimits;
  /** For a connection's first byte. */
  headersTimeoutMs: number;
  /** For the next request on an idle connection. */
  keepAliveTimeoutMs: number;
  /** Serves a connection by the server's own parser. */
  serveByNode: (socket: Socket) => void;
};

export type FastConnections = { closeIdle: () => void };

const SWEEP_INTERVAL_MS = 1_000;
/** For a request that was sent just before the time that the response states, as node:http allows it. */
const KEEP_ALIVE_BUFFER_MS = 1_000;

/**
 * Puts a fast path before an HTTP server's own parser (docs/design/listeners.md). Each connection begins on it, and
 * goes to the server for good, as if it had just been opened, with the first bytes that aren't a plain, whole request
 * that has a handler.
 */
export function openFastPath(server: Server, options: FastPathOptions): FastConnections {
  const { limits, handlerOf, onRequest, keepAliveTimeoutMs, headersTimeoutMs, serveByNode } = options;
  const { recentHeads = null } = options;
  const open = new Set<FastConnection>();
  let sweeping: NodeJS.Timeout | undefined;

  function onOther(socket: Socket, received: Buffer): void {
    // Paused, since bytes that arrive before the server listens would be lost.
    socket.pause();
    socket.unshift(received);
    serveByNode(socket);
    socket.resume();
  }

  /** The listener refuses it as it refuses what the server's own parser rejects. */
  function refuse(socket: Socket, code: string): void {
    server.emit('clientError', Object.assign(new Error('no request arrived'), { code }), socket);
  }

  function begin(socket: Socket): void {
    const connection = new FastConnection(socket, {
      keepAliveLines: `Connection: keep-alive\r\nKeep-Alive: timeout=${String(keepAliveTimeoutMs / 1_000)}\r\n`,
      limits,
      handlerOf,
      recentHeads,
      onRequest,
      onOther,
      onBrokenOff: () => {
        refuse(socket, 'HPE_INVALID_EOF_STATE');
      },
      onClosed: () => {
        open.delete(connection);
        if (open.size > 0) return;
        clearInterval(sweeping);
        sweeping = undefined;
      },
    });
    open.add(connection);
    sweeping ??= setInterval(sweep, SWEEP_INTERVAL_MS);
  }

  function sweep(): void {
    const nowMs = performance.now();
    for (const { isIdle, isNew, idleSinceMs, socket } of open) {
      const idleMs = nowMs - idleSinceMs;
      if (!isIdle) continue;
      if (isNew && idleMs > headersTimeoutMs) refuse(socket, 'ERR_HTTP_REQUEST_TIMEOUT');
      else if (!isNew && idleMs > keepAliveTimeoutMs + KEEP_ALIVE_BUFFER_MS) socket.destroy();
    }
  }

  server.on('connection', begin);
  return {
    closeIdle: () => {
      for (const { isIdle, socket } of open) if (isIdle) socket.destroy();
    },
  };
}
