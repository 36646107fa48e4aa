import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AccessLog } from '@tollgate/log/access-log';
import type { Problem } from '@tollgate/http/problem';
import { trackConnections } from './connections.ts';
import type { DrainLimits } from './connections.ts';
import { refuseIdleRequests } from './slow-requests.ts';
import type { ReceiveLimits } from './slow-requests.ts';
import { headProblem, onClientError, onConnect, refuseHead } from './refused-request.ts';
import type { HeadLimits } from './refused-request.ts';

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
  /** By default a request has node:http's five minutes. */
  receiveLimits?: ReceiveLimits | undefined;
  accessLog?: Pick<AccessLog, 'observe' | 'observeUpgrade'> | null;
  onRefusedHead?: OnRefusedHead | undefined;
  upgradeHandler?: UpgradeHandler | undefined;
  /** Handles requests that wait for `100 Continue`, and has to send it; by default it is sent at once. */
  continueHandler?: RequestListener | undefined;
  /** Called with each request before its response, a refusal of its head included. */
  prepare?: RequestListener | undefined;
};

/** Against heads that arrive drop by drop (slowloris). */
const HEADERS_TIMEOUT_MS = 10_000;

const TIMEOUT_CHECK_INTERVAL_MS = 1_000;

export function createListener(handler: RequestListener, options: ListenerOptions): Listener {
  const { name, host, port, setting, limits, receiveLimits, accessLog, onRefusedHead } = options;
  const { upgradeHandler, continueHandler, prepare } = options;
  const server = createServer(
    {
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, receiveLimits?.totalMs ?? HEADERS_TIMEOUT_MS),
      ...(receiveLimits === undefined ? {} : { requestTimeout: receiveLimits.totalMs }),
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      // Longer than the usual 60 s of load balancers, which must be the ones to close.
      keepAliveTimeout: 65_000,
      maxHeaderSize: limits.maxHeaderBytes,
      // headProblem refuses with a body.
      requireHostHeader: false,
      shouldUpgradeCallback: (req) =>
        upgradeHandler !== undefined && headProblem(req, limits) === null && upgradeHandler.accepts(req),
    },
    serve(handler),
  );
  // The parser would silently drop fields beyond its own count.
  server.maxHeadersCount = 0;
  const connections = trackConnections(server);
  server.on('clientError', onClientError(connections)).on('connect', onConnect);
  if (receiveLimits !== undefined) refuseIdleRequests(server, connections, receiveLimits.idleMs);
  // Other expectations may be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', serve(handler));
  if (continueHandler !== undefined) server.on('checkContinue', serve(continueHandler));
  if (upgradeHandler !== undefined) {
    server.on('upgrade', (req, socket, head) => {
      accessLog?.observeUpgrade(req, socket);
      upgradeHandler.upgrade(req, socket, head);
    });
  }
  return {
    server,
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', (error: NodeJS.ErrnoException) => {
          const taken = `The ${name} port ${String(port)} on ${host} is taken by another process. End that process, or set ${setting} to a free port.`;
          reject(error.code === 'EADDRINUSE' ? new PortTakenError(taken) : error);
        });
        server.listen({ host, port }, resolve);
      }),
    close: connections.drain,
  };

  function serve(next: RequestListener): RequestListener {
    return (req, res) => {
      connections.began(req, res);
      accessLog?.observe(req, res);
      const problem = headProblem(req, limits);
      prepare?.(req, res);
      if (problem === null) {
        next(req, res);
        return;
      }
      const requestId = refuseHead(req, res, problem);
      onRefusedHead?.(req, problem, requestId);
    };
  }
}
