import { ServerResponse } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { addressGroup } from '@tollgate/http/address-group';
import { fieldValues, pathOf } from '@tollgate/http/request-head';
import { Problem, toProblem } from '@tollgate/http/problem';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import type { UpgradeHandler } from '@tollgate/server/listener';
import { assertBodiless } from '../../data-call/data-request.ts';
import { sendRefusal } from '../../data-call/refusal.ts';
import { assertSoundHead } from '../../http/sound-head.ts';
import { createBegunUpgrades } from './begun-upgrades.ts';
import type { BegunUpgrade, BegunUpgradesOptions } from './begun-upgrades.ts';
import { tokenOfRequest } from './credential.ts';
import type { OpenedSocket } from './caller-socket-parts.ts';
import type { OpenSockets } from './open-sockets.ts';
import { chosenProtocol } from '../protocol.ts';
import { upgradeFacts } from '../upstream/upstream-opening.ts';

export type UpgradeOptions = BegunUpgradesOptions & {
  path: string;
  /** Whether a caller is a proxy that speaks for those before it. */
  trusts: TrustsAddress;
  sockets: Pick<OpenSockets, 'identify' | 'assertRoom' | 'assertRoomOf' | 'open'>;
  /** Whether pages of an origin may open sockets; null where all may. */
  allowsOrigin: ((origin: string) => boolean) | null;
  maxMessageBytes: number;
};

/** How long a caller has for its half of a close, and one that reads nothing for the gateway's. */
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * `GET {path}` with `Upgrade: websocket` (RFC 6455). A token in the Authorization header or in `?token=` is
 * authenticated and entitled before the upgrade, and refused as on POST: 400, 401, 402, 403, 429, 503 with a
 * GraphQL error. 403 as well to a page of an origin that isn't allowed. Without one connection_init has to bring it. The answer carries X-Request-Id.
 */
export function createUpgradeHandler(options: UpgradeOptions): UpgradeHandler {
  const { path, sockets, trusts, allowsOrigin } = options;
  const upgrades = createBegunUpgrades(options);
  const server = new WebSocketServer(serverOptions(options.maxMessageBytes));
  server.on('headers', (headers, req) => headers.push(`X-Request-Id: ${upgrades.of(req).requestId}`));
  // What ws finds wrong with a handshake it would answer in plain text.
  server.on('wsClientError', (error, socket, req) => {
    refuse(req, socket, new Problem('invalid_request', { detail: `${error.message}.` }));
  });

  async function authenticate(req: IncomingMessage, upgrade: BegunUpgrade) {
    const { requestId, trace } = upgrade;
    assertSoundHead(req);
    assertBodiless(req);
    if (allowsOrigin !== null) assertAllowedOrigin(req, allowsOrigin);
    const protocol = chosenProtocol(fieldValues(req.rawHeaders, 'sec-websocket-protocol'));
    if (protocol === undefined) throw unknownProtocol();
    const token = tokenOfRequest(req);
    const address = addressGroup(upgrade.clientAddress);
    sockets.assertRoom(token === undefined ? address : null);
    if (token === undefined) return { protocol, address, identity: null };
    const identity = await sockets.identify(token, requestId, trace, (active) => {
      upgrades.identified(req, upgrade, active);
    });
    upgrade.payerId = identity.payer.payerId;
    sockets.assertRoomOf(identity);
    return { protocol, address, identity };
  }

  function accept(
    connection: { req: IncomingMessage; socket: Duplex; head: Buffer },
    opened: Omit<OpenedSocket, 'socket'>,
  ): void {
    const { req, socket, head } = connection;
    server.handleUpgrade(req, socket, head, (webSocket) => {
      upgrades.accepted(req, opened);
      sockets.open({ ...opened, socket: webSocket });
    });
  }

  function refuse(req: IncomingMessage, socket: Duplex, problem: Problem): void {
    const upgrade = upgrades.of(req);
    upgrades.refused(req, upgrade, problem);
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
    sendRefusal(req, res, problem, upgrade.requestId);
  }

  return {
    accepts: (req) =>
      pathOf(req) === path && req.method === 'GET' && req.headers.upgrade?.toLowerCase() === 'websocket',
    upgrade: (req, socket, head) => {
      const upgrade = upgrades.begin(req);
      const { requestId, trace, clientAddress } = upgrade;
      // Until ws or the refusal owns it; a connection that breaks then is of no concern to anybody.
      socket.on('error', () => socket.destroy());
      if (trace !== null) socket.once('close', trace.gone);
      authenticate(req, upgrade)
        .then((found) => {
          const facts = upgradeFacts(req, { trusted: trusts(req.socket.remoteAddress), clientAddress });
          accept({ req, socket, head }, { ...found, facts, requestId, trace });
        })
        .catch((error: unknown) => {
          refuse(req, socket, toProblem(error));
        });
    },
  };
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

/**
 * Browsers ask no preflight before a WebSocket: the server itself has to look at Origin (RFC 6455, section 10.2).
 * The gateway's own pages may always, as with other requests; programs send no Origin.
 */
function assertAllowedOrigin(
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  allows: (origin: string) => boolean,
): void {
  const [host = ''] = fieldValues(rawHeaders, 'host');
  for (const origin of fieldValues(rawHeaders, 'origin')) {
    if (allows(origin) || origin.replace(/^https?:\/\//, '') === host.toLowerCase()) continue;
    throw new Problem('forbidden', { detail: 'WebSockets from this origin are not allowed.' });
  }
}

function unknownProtocol(): Problem {
  return new Problem('invalid_request', {
    detail: 'Sec-WebSocket-Protocol must offer graphql-transport-ws, or the older graphql-ws.',
  });
}
