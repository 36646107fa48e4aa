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
import { assertBodiless } from '../../pipeline/data-request.ts';
import { sendRefusal } from '../../refusals/graphql-refusal.ts';
import { assertSoundHead } from '../../http/sound-head.ts';
import { createPendingUpgrades } from './pending-upgrades.ts';
import type { PendingUpgrade, PendingUpgradesOptions } from './pending-upgrades.ts';
import { tokenOfRequest } from './credential.ts';
import type { UpgradedSocket } from './caller-socket-options.ts';
import type { OpenSockets } from './open-sockets.ts';
import { chosenProtocol } from '../protocol/protocol.ts';
import { upgradeFacts } from '../upstream/upstream-upgrade.ts';

export type UpgradeOptions = PendingUpgradesOptions & {
  path: string;
  trusts: TrustsAddress;
  sockets: Pick<OpenSockets, 'identify' | 'assertRoom' | 'assertRoomOf' | 'open'>;
  allowsOrigin: ((origin: string) => boolean) | null;
  maxMessageBytes: number;
};

/** For the caller's half of a close, and for a caller that doesn't read the gateway's. */
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * `GET {path}` with `Upgrade: websocket` (RFC 6455). A token in the header or `?token=` is checked before the upgrade
 * and refused as on POST: 400, 401, 402, 403, 429, 503 with a GraphQL error. Otherwise connection_init brings it.
 */
export function createUpgradeHandler(options: UpgradeOptions): UpgradeHandler {
  const { path, sockets, trusts, allowsOrigin } = options;
  const upgrades = createPendingUpgrades(options);
  const server = new WebSocketServer(serverOptions(options.maxMessageBytes));
  server.on('headers', (headers, req) => headers.push(`X-Request-Id: ${upgrades.of(req).requestId}`));
  // ws would respond to an invalid handshake in plain text.
  server.on('wsClientError', (error, socket, req) => {
    refuse(req, socket, new Problem('invalid_request', { detail: `${error.message}.` }));
  });

  async function authenticate(req: IncomingMessage, upgrade: PendingUpgrade) {
    const { requestId, trace } = upgrade;
    assertSoundHead(req);
    assertBodiless(req);
    if (allowsOrigin !== null) assertAllowedOrigin(req, allowsOrigin);
    const protocol = chosenProtocol(fieldValues(req.rawHeaders, 'sec-websocket-protocol'));
    if (protocol === undefined) throw unknownProtocol();
    const token = tokenOfRequest(req);
    const address = addressGroup(upgrade.clientAddress);
    sockets.assertRoom(token === undefined ? address : null);
    if (token === undefined) return { protocol, address, principal: null };
    const principal = await sockets.identify(token, requestId, trace, (active) => {
      upgrades.identified(req, upgrade, active);
    });
    upgrade.principal.payer = principal.payer;
    sockets.assertRoomOf(principal);
    return { protocol, address, principal };
  }

  function accept(
    connection: { req: IncomingMessage; socket: Duplex; head: Buffer },
    opened: Omit<UpgradedSocket, 'socket'>,
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
      // Until ws or the refusal owns the socket: an unhandled error would end the process.
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

/** In fragments or reads, each of which takes a few hundred bytes of memory besides its own. */
const MIN_PIECES = 64;
const BYTES_PER_PIECE = 256;

function serverOptions(maxPayload: number) {
  const maxPieces = MIN_PIECES + Math.ceil(maxPayload / BYTES_PER_PIECE);
  return {
    noServer: true,
    clientTracking: false,
    maxPayload,
    maxFragments: maxPieces,
    maxBufferedChunks: maxPieces,
    // A compressor costs more memory than the rest of a socket, and invites decompression attacks.
    perMessageDeflate: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
    handleProtocols: (offered: Set<string>) => chosenProtocol([...offered])?.name ?? false,
  };
}

// Browsers send no preflight for a WebSocket, so the server has to check Origin (RFC 6455, section 10.2).
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
