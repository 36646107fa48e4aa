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

/** A listener's port belongs to another process; the message says which and what moves it. */
export class PortTakenError extends Error {}

/** Takes connections that stop being HTTP (RFC 9110, section 7.8). */
export type UpgradeHandler = {
  /** Which requests; the others go to the listener's handler, as if they hadn't asked for an upgrade. */
  accepts: (req: IncomingMessage) => boolean;
  /** Owns the connection from then on, errors included. `head` is what came behind the request. */
  upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
};

export type OnRefusedHead = (req: IncomingMessage, problem: Problem, requestId: string) => void;

export type Listener = {
  server: Server;
  listen: () => Promise<void>;
  /**
   * Accepts nothing new, lets the requests under way finish, and resolves when every connection is gone.
   * Upgraded ones end only by whoever owns them.
   */
  close: (limits: DrainLimits) => Promise<void>;
};

export type ListenerOptions = {
  name: string;
  host: string;
  port: number;
  /** What moves its port. */
  setting: string;
  limits: HeadLimits;
  /** Without them a request has node:http's five minutes. */
  receiveLimits?: ReceiveLimits | undefined;
  /** Has a line for each request. */
  accessLog?: Pick<AccessLog, 'observe' | 'observeUpgrade'> | null;
  /** Told of each request whose head was refused before the handler. */
  onRefusedHead?: OnRefusedHead | undefined;
  upgradeHandler?: UpgradeHandler | undefined;
  /**
   * Gets the requests that wait for `100 Continue` (RFC 9110, section 10.1.1) and has to send it; without it
   * they are told to go on at once.
   */
  continueHandler?: RequestListener | undefined;
  /** Called with each request and its answer before anything answers it, a refusal of its head included. */
  prepare?: RequestListener | undefined;
};

/** For a request's head. A caller that sends its header lines drop by drop is cut off (slowloris). */
const HEADERS_TIMEOUT_MS = 10_000;

/** How exactly the limits on a head and on a whole request are kept. */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;

/** An HTTP server with the limits that every listener has. */
export function createListener(handler: RequestListener, options: ListenerOptions): Listener {
  const { name, host, port, setting, limits, receiveLimits, accessLog, onRefusedHead } = options;
  const { upgradeHandler, continueHandler, prepare } = options;
  const server = createServer(
    {
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, receiveLimits?.totalMs ?? HEADERS_TIMEOUT_MS),
      ...(receiveLimits === undefined ? {} : { requestTimeout: receiveLimits.totalMs }),
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      // Behind a load balancer with the usual 60 s idle limit the server must be the one that waits longer.
      keepAliveTimeout: 65_000,
      maxHeaderSize: limits.maxHeaderBytes,
      // Its own answer would be without a body: headProblem sees to it.
      requireHostHeader: false,
      shouldUpgradeCallback: (req) =>
        upgradeHandler !== undefined && headProblem(req, limits) === null && upgradeHandler.accepts(req),
    },
    serve(handler),
  );
  // The parser would leave out what is beyond its own count, without a word.
  server.maxHeadersCount = 0;
  const connections = trackConnections(server);
  server.on('clientError', onClientError(connections)).on('connect', onConnect);
  if (receiveLimits !== undefined) refuseIdleRequests(server, connections, receiveLimits.idleMs);
  // Other expectations mean nothing here, and may be passed over (RFC 9110, section 10.1.1).
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

  /** Each request passes here, whichever event brings it. */
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
