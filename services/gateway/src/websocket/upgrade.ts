import { ServerResponse } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { addressGroup } from '@tollgate/address-group';
import { newRequestId } from '@tollgate/log/request-id';
import { Problem, toProblem } from '@tollgate/problem';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { UpgradeHandler } from '@tollgate/server/listener';
import { assertBodiless } from '../data-call/data-request.ts';
import type { LogFailure } from '../data-call/failure-log.ts';
import { sendRefusal } from '../data-call/refusal.ts';
import { callerAddress } from '../headers/caller-address.ts';
import { assertSoundHead, fieldValues, pathOf } from '../headers/request-head.ts';
import type { TrustsPeer } from '../headers/trusted-proxies.ts';
import type { RecordRefusal, Refusal } from '../refused-calls/refused-calls.ts';
import type { SocketTrace } from '../trace/socket-trace.ts';
import type { Traces } from '../trace/traces.ts';
import { tokenOfRequest } from './credential.ts';
import type { OpenedSocket } from './caller-socket.ts';
import type { OpenSockets } from './open-sockets.ts';
import { chosenProtocol } from './protocol.ts';
import { upgradeFacts } from './upstream-opening.ts';

export type UpgradeOptions = {
  path: string;
  sockets: Pick<OpenSockets, 'identify' | 'assertRoom' | 'assertRoomOf' | 'open'>;
  /** Whether a caller is a proxy that speaks for those before it. */
  trusts: TrustsPeer;
  traces: Pick<Traces, 'open'>;
  maxMessageBytes: number;
  onUpgrade: (outcome: string) => void;
  logFailure: LogFailure;
  recordRefusal: RecordRefusal;
};

/** An upgrade request that has come. */
type BegunUpgrade = {
  requestId: string;
  trace: SocketTrace | null;
  beganMs: number;
  clientAddress: string;
  /** Who calls and who pays, as far as it is known. */
  active: ActiveToken | null;
  payerId: number | null;
};

/** How long a caller has for its half of a close, and one that reads nothing for the gateway's. */
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * `GET {path}` with `Upgrade: websocket` (RFC 6455). A token in the Authorization header or in `?token=` is
 * authenticated and entitled before the upgrade, and refused as on POST: 400, 401, 402, 403, 429, 503 with a
 * GraphQL error. Without one connection_init has to bring it. The answer carries X-Request-Id.
 */
export function createUpgradeHandler(options: UpgradeOptions): UpgradeHandler {
  const { path, sockets, trusts, traces, onUpgrade, logFailure, recordRefusal } = options;
  const begun = new WeakMap<IncomingMessage, BegunUpgrade>();
  const server = new WebSocketServer(serverOptions(options.maxMessageBytes));
  server.on('headers', (headers, req) => headers.push(`X-Request-Id: ${begun.get(req)?.requestId ?? ''}`));
  // What ws finds wrong with a handshake it would answer in plain text.
  server.on('wsClientError', (error, socket, req) => {
    refuse(req, socket, new Problem('invalid_request', { detail: `${error.message}.` }));
  });

  function begin(req: IncomingMessage): BegunUpgrade {
    const requestId = newRequestId();
    const upgrade = {
      ...{ requestId, trace: traces.open(req, requestId), beganMs: performance.now() },
      ...{ clientAddress: callerAddress(req, trusts), active: null, payerId: null },
    };
    begun.set(req, upgrade);
    return upgrade;
  }

  async function authenticate(req: IncomingMessage, upgrade: BegunUpgrade) {
    const { requestId, trace } = upgrade;
    assertSoundHead(req);
    assertBodiless(req);
    const protocol = chosenProtocol(fieldValues(req.rawHeaders, 'sec-websocket-protocol'));
    if (protocol === undefined) throw unknownProtocol();
    const token = tokenOfRequest(req);
    const address = addressGroup(upgrade.clientAddress);
    sockets.assertRoom(token === undefined ? address : null);
    if (token === undefined) return { protocol, address, identity: null };
    const identity = await sockets.identify(token, requestId, trace, (active) => {
      upgrade.active = active;
    });
    upgrade.payerId = identity.charge.payerId;
    sockets.assertRoomOf(identity);
    return { protocol, address, identity };
  }

  function accept(
    connection: { req: IncomingMessage; socket: Duplex; head: Buffer },
    opened: Omit<OpenedSocket, 'socket'>,
  ): void {
    const { req, socket, head } = connection;
    server.handleUpgrade(req, socket, head, (webSocket) => {
      onUpgrade('accepted');
      opened.trace?.answered('accepted', 101);
      sockets.open({ ...opened, socket: webSocket });
    });
  }

  function refuse(req: IncomingMessage, socket: Duplex, problem: Problem): void {
    const upgrade = begun.get(req) ?? begin(req);
    const { requestId, trace, clientAddress } = upgrade;
    onUpgrade(problem.code);
    trace?.answered(problem.code, problem.status);
    if (problem.status >= 500) logFailure(requestId, problem, clientAddress);
    recordRefusal(refusalOfUpgrade(req, upgrade, problem));
    if (!(socket instanceof Socket) || socket.destroyed) {
      socket.destroy();
      return;
    }
    const res = new ServerResponse(req);
    res.shouldKeepAlive = false;
    res.assignSocket(socket);
    res.once('finish', () => {
      socket.destroySoon();
    });
    sendRefusal(req, res, problem, requestId);
  }

  return {
    accepts: (req) =>
      pathOf(req) === path && req.method === 'GET' && req.headers.upgrade?.toLowerCase() === 'websocket',
    upgrade: (req, socket, head) => {
      const upgrade = begin(req);
      const { requestId, trace, clientAddress } = upgrade;
      // Until ws or the refusal owns it; a connection that breaks then is of no concern to anybody.
      socket.on('error', () => socket.destroy());
      if (trace !== null) socket.once('close', trace.gone);
      authenticate(req, upgrade)
        .then((found) => {
          const facts = upgradeFacts(req, { trusted: trusts(req.socket), clientAddress });
          accept({ req, socket, head }, { ...found, facts, requestId, trace });
        })
        .catch((error: unknown) => {
          refuse(req, socket, toProblem(error));
        });
    },
  };
}

function refusalOfUpgrade(
  req: IncomingMessage,
  { requestId, beganMs, clientAddress, active, payerId }: BegunUpgrade,
  { code, status, detail }: Problem,
): Refusal {
  return {
    ...{ requestId, kind: 'upgrade', code, status, detail, active, payerId, apiVersion: 'v2' },
    token: active === null ? presentedToken(req) : undefined,
    address: clientAddress,
    durationMs: performance.now() - beganMs,
  };
}

function presentedToken(req: IncomingMessage): string | undefined {
  try {
    return tokenOfRequest(req);
  } catch {
    return undefined;
  }
}

function serverOptions(maxPayload: number) {
  return {
    noServer: true,
    clientTracking: false,
    maxPayload,
    // A compressor for each socket costs more memory than all else of it; and a small message that unpacks to
    // a large one is an attack of its own.
    perMessageDeflate: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
    handleProtocols: (offered: Set<string>) => chosenProtocol([...offered])?.name ?? false,
  };
}

function unknownProtocol(): Problem {
  return new Problem('invalid_request', {
    detail: 'Sec-WebSocket-Protocol must offer graphql-transport-ws, or the older graphql-ws.',
  });
}
