import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AccessLog } from '@tollgate/log/access-log';
import type { HttpHandler, HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import type { Problem } from '@tollgate/http/problem';
import { openFastPath } from '@tollgate/plain-http/server';
import type { FastPath, FastPathOptions, HeadLimits } from '@tollgate/plain-http/server';
import { trackConnections } from './connections.ts';
import type { DrainLimits } from './connections.ts';
import { readOneByOne } from './pipelining.ts';
import { refuseIdleRequests } from './slow-requests.ts';
import type { ReceiveLimits } from './slow-requests.ts';
import {
  hasBody,
  headProblem,
  isLastOfConnection,
  onClientError,
  onConnect,
  proxyProblem,
  refuseHead,
} from './refused-request.ts';

export type { FastPath };

export class PortTakenError extends Error {}

export type UpgradeHandler = {
  /** Other requests go to the listener's handler. */
  accepts: (req: IncomingMessage) => boolean;
  /** Owns the connection from then on, errors included. */
  upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
};

export type OnRefusedHead = (req: IncomingMessage, problem: Problem, requestId: string) => void;

export type Listener = {
  server: Server;
  listen: () => Promise<void>;
  /** Lets requests finish, and resolves when all connections are closed. Doesn't end upgraded ones. */
  close: (limits: DrainLimits) => Promise<void>;
};

export type ListenerOptions = {
  name: string;
  host: string;
  port: number;
  /** The name of the port's setting, for errors. */
  setting: string;
  limits: HeadLimits;
  /** Refuses what came through a proxy (docs/design/listeners.md). */
  directOnly?: boolean;
  /** A path, such as `/operator`, below which a direct-only listener serves proxies too. */
  proxiedBelow?: string | undefined;
  /** By default a request has node:http's five minutes. */
  receiveLimits?: ReceiveLimits | undefined;
  accessLog?: Pick<AccessLog, 'observe' | 'observeUpgrade'> | null;
  onRefusedHead?: OnRefusedHead | undefined;
  upgradeHandler?: UpgradeHandler | undefined;
  /** Handles requests that wait for `100 Continue`, and has to send it; by default it is sent at once. */
  continueHandler?: RequestListener | undefined;
  /** Called with each request before its response, a refusal of its head included. */
  prepare?: HttpHandler | undefined;
  fastPath?: FastPath | undefined;
};

/** Against heads that arrive drop by drop (slowloris). */
const HEADERS_TIMEOUT_MS = 10_000;

/** Each check wakes an idle process. */
const MIN_CHECK_INTERVAL_MS = 1_000;

/** Longer than the usual 60 s of load balancers, which must be the ones to close. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** What a connection without a credential may make a service hold, for a moment. */
const FAST_BODY_MAX_BYTES = 65_536;

/** Literally, as the routes are taken: nothing is decoded, and no `..` is resolved. */
function isBelow(url: string | undefined, path: string | undefined): boolean {
  return path !== undefined && url?.startsWith(path) === true && /^(?:$|[/?])/.test(url.slice(path.length));
}

export function createListener(handler: RequestListener, options: ListenerOptions): Listener {
  const { limits, receiveLimits, accessLog, onRefusedHead } = options;
  const { upgradeHandler, continueHandler, prepare, fastPath, directOnly = false, proxiedBelow } = options;
  const proxyProblemOf = (head: Pick<IncomingMessage, 'rawHeaders' | 'url'>) =>
    directOnly && !isBelow(head.url, proxiedBelow) ? proxyProblem(head) : null;
  const headersTimeoutMs = Math.min(HEADERS_TIMEOUT_MS, receiveLimits?.totalMs ?? HEADERS_TIMEOUT_MS);
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      ...(receiveLimits === undefined ? {} : { requestTimeout: receiveLimits.totalMs }),
      connectionsCheckingInterval: Math.max(MIN_CHECK_INTERVAL_MS, headersTimeoutMs / 4),
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      maxHeaderSize: limits.maxHeaderBytes,
      // headProblem refuses with a body.
      requireHostHeader: false,
      shouldUpgradeCallback: (req) =>
        upgradeHandler !== undefined &&
        !hasBody(req) &&
        isAnswered(req.socket) &&
        headProblem(req, limits) === null &&
        upgradeHandler.accepts(req),
    },
    serve(handler),
  );
  // The parser would silently drop fields beyond its own count.
  server.maxHeadersCount = 0;
  // A caller that sends no more may still read its answer (RFC 9112, section 9.6).
  Object.assign(server, { httpAllowHalfOpen: true });
  const connections = trackConnections(server, () => fast?.closeIdle());
  const { serve: serveByNode, release } = readOneByOne(server, connections);
  const fast = fastPath && openFastPath(server, fastPathOptions(fastPath));
  if (fastPath === undefined) server.on('connection', serveByNode);
  server.on('clientError', onClientError(connections)).on('connect', onConnect);
  if (receiveLimits !== undefined) refuseIdleRequests(server, connections, receiveLimits.idleMs);
  // Other expectations may be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', serve(handler));
  if (continueHandler !== undefined) server.on('checkContinue', serve(continueHandler));
  if (upgradeHandler !== undefined) {
    server.on('upgrade', (req, socket, head) => {
      release(req.socket);
      accessLog?.observeUpgrade(req, socket);
      upgradeHandler.upgrade(req, socket, head);
    });
  }
  return {
    server,
    listen: () => listen(server, options),
    close: connections.drain,
  };

  function isAnswered(socket: Socket): boolean {
    return connections.lastAnswer(socket)?.writableFinished ?? true;
  }

  function begin(req: HttpRequest, res: HttpResponse): void {
    connections.began(req, res);
    accessLog?.observe(req, res);
  }

  function fastPathOptions({ handlerOf, recentHeads }: FastPath): FastPathOptions {
    return {
      recentHeads,
      limits: { ...limits, maxBodyBytes: FAST_BODY_MAX_BYTES },
      headersTimeoutMs,
      keepAliveTimeoutMs: KEEP_ALIVE_TIMEOUT_MS,
      serveByNode,
      handlerOf: (head) => (proxyProblemOf(head) === null ? handlerOf(head) : null),
      onRequest: (req, res) => {
        begin(req, res);
        prepare?.(req, res);
      },
    };
  }

  /** One at a time: a few requests may be read with the end of the last one's body. */
  function serve(next: RequestListener): RequestListener {
    const serveInTurn: RequestListener = (req, res) => {
      const last = connections.lastAnswer(req.socket);
      if (last !== null && !last.writableFinished) {
        last.once('finish', () => {
          serveInTurn(req, res);
        });
        return;
      }
      // Nothing is served behind the last answer of a connection (RFC 9112, section 9.6).
      if (last?.shouldKeepAlive === false) return;
      begin(req, res);
      if (isLastOfConnection(req)) res.shouldKeepAlive = false;
      const problem = headProblem(req, limits) ?? proxyProblemOf(req);
      prepare?.(req, res);
      if (problem === null) {
        next(req, res);
        return;
      }
      const requestId = refuseHead(req, res, problem);
      onRefusedHead?.(req, problem, requestId);
    };
    return serveInTurn;
  }
}

function listen(
  server: Server,
  { name, host, port, setting }: Pick<ListenerOptions, 'name' | 'host' | 'port' | 'setting'>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `The ${name} port ${String(port)} on ${host} is taken by another process. End that process, or set ${setting} to a free port.`;
      reject(error.code === 'EADDRINUSE' ? new PortTakenError(taken) : error);
    });
    server.listen({ host, port }, resolve);
  });
}
