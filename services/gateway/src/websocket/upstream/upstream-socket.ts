import { WebSocket } from 'ws';
import { Problem } from '@tollgate/http/problem';
import { UPSTREAM_FAILED, gatewayClose, closeForUpstream } from '../protocol/close-codes.ts';
import type { SocketClose } from '../protocol/close-codes.ts';
import { createHeartbeat } from '../connection/heartbeat.ts';
import type { Heartbeat } from '../connection/heartbeat.ts';
import { parseUpstreamMessage } from '../protocol/message.ts';
import type { Message } from '../protocol/message.ts';
import type { Pausable } from '../connection/read-control.ts';
import { createSendBuffer } from '../connection/send-buffer.ts';
import type { SendBuffer } from '../connection/send-buffer.ts';
import type { Protocol } from '../protocol/protocol.ts';
import type { ConnectionEnd } from './upstream-addresses.ts';
import { createUpstreamIds } from './upstream-ids.ts';

export type UpstreamSettings = {
  maxMessageBytes: number;
  bufferMaxBytes: number;
  connectTimeoutMs: number;
  /** From then on, until connection_init is acknowledged. */
  ackTimeoutMs: number;
};

export type UpstreamEvents = {
  onMessage: (message: UpstreamMessage, bytes: Buffer) => void;
  onReady: () => void;
  /** The connection has ended, also by `close`. Called before `ready` rejects. */
  onClosed: (closed: UpstreamClose) => void;
};

export type UpstreamMessage = Message & { id: string };

/** The upstream refused the upgrade (4xx), and would again. */
export class UpstreamRefusal extends Problem {}

export type UpstreamClose = {
  how: ConnectionEnd;
  /** For the caller's socket; null if the gateway closed the connection. */
  close: SocketClose | null;
  wasReady: boolean;
};

const CLOSE_TIMEOUT_MS = 1_000;

export type UpstreamUpgrade = {
  protocol: Protocol;
  url: string;
  headers: Record<string, string>;
  initPayload: unknown;
};

/** One WebSocket to the upstream, for one caller's socket and with its subprotocol. */
export class UpstreamSocket {
  /** The acknowledgement of connection_init. @throws {Problem} upstream_unreachable, upstream_timeout. */
  readonly ready: Promise<unknown>;
  readonly ids = createUpstreamIds();
  readonly #socket: WebSocket;
  readonly #sendBuffer: SendBuffer;
  readonly #heartbeat: Heartbeat;
  readonly #settings: UpstreamSettings;
  readonly #events: UpstreamEvents;
  readonly #settled = Promise.withResolvers<undefined>();
  /** `connecting`: nothing has been sent. */
  #phase: 'connecting' | 'opened' | 'ready' = 'connecting';
  #isClosing = false;
  #paused = false;
  #failure: { problem: Problem; close: SocketClose; how: ConnectionEnd } | undefined;
  #ackTimer: NodeJS.Timeout | undefined;

  constructor(
    settings: UpstreamSettings,
    upgrade: UpstreamUpgrade,
    source: Pausable,
    events: UpstreamEvents,
  ) {
    const options = {
      headers: upgrade.headers,
      handshakeTimeout: settings.connectTimeoutMs,
      maxPayload: settings.maxMessageBytes,
      perMessageDeflate: false,
      followRedirects: false,
      closeTimeout: CLOSE_TIMEOUT_MS,
    };
    this.#settings = settings;
    this.#events = events;
    this.#socket = new WebSocket(upgrade.url, [upgrade.protocol.name], options);
    this.#heartbeat = createHeartbeat(this.#socket);
    this.#sendBuffer = createSendBuffer(this.#socket, settings.bufferMaxBytes, source);
    this.ready = this.#settled.promise;
    // A rejection that no operation waits for must not end the process.
    this.ready.catch(() => undefined);
    this.#listen(upgrade.initPayload);
  }

  get wasOpened(): boolean {
    return this.#phase !== 'connecting';
  }

  send(data: string): void {
    this.#sendBuffer.send(data);
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    // Messages that arrived during the pause would otherwise count as silence.
    this.#heartbeat.seen();
    this.#socket.resume();
  }

  checkAlive(): void {
    if (this.#phase === 'ready' && !this.#paused) this.#heartbeat.beat();
  }

  stalledMs(nowMs: number): number {
    return this.#sendBuffer.stalledMs(nowMs);
  }

  close(): void {
    this.#isClosing = true;
    clearTimeout(this.#ackTimer);
    if (this.#paused) this.#socket.resume();
    this.#sendBuffer.close();
    this.#socket.close(1000);
  }

  fail(problem: Problem, how: ConnectionEnd, close: SocketClose = gatewayClose('upstream_closed')): void {
    this.#failure ??= { problem, how, close };
    this.#socket.terminate();
  }

  #listen(initPayload: unknown): void {
    const socket = this.#socket;
    socket.on('open', () => {
      this.#phase = 'opened';
      if (this.#paused) socket.pause();
      this.#ackTimer = setTimeout(() => {
        const problem = upstreamProblem('upstream_timeout', 'connection_init was not acknowledged');
        this.fail(problem, 'headers_timeout');
      }, this.#settings.ackTimeoutMs);
      this.send(JSON.stringify({ type: 'connection_init', payload: initPayload }));
    });
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
      const cause = new Error(`the upstream answered the upgrade with ${String(statusCode)}`);
      const isAway = statusCode >= 500;
      this.fail(new (isAway ? Problem : UpstreamRefusal)('upstream_unreachable', { cause }), 'answered');
    });
    socket.on('message', (data: Buffer, isBinary) => {
      this.#heartbeat.seen();
      if (this.#isClosing) return;
      if (isBinary) this.#failAsNoGraphql();
      else this.#receive(data);
    });
    socket.on('pong', this.#heartbeat.seen);
    socket.on('ping', this.#heartbeat.seen);
    socket.on('error', (error) => {
      const code = error.message === HANDSHAKE_TIMEOUT ? 'upstream_timeout' : 'upstream_unreachable';
      this.#failure ??= {
        problem: new Problem(code, { cause: error }),
        how: this.#howLost(),
        close: isProtocolError(error) ? UPSTREAM_FAILED : gatewayClose('upstream_closed'),
      };
    });
    socket.on('close', (code, reason) => {
      clearTimeout(this.#ackTimer);
      this.#sendBuffer.close();
      const { problem, close, how } = this.#failure ?? {
        problem: upstreamProblem('upstream_unreachable', `the upstream closed with ${String(code)}`),
        how: code === CONNECTION_LOST ? this.#howLost() : 'answered',
        close: closeForUpstream(code, reason.toString()),
      };
      // Before `ready` rejects: a refused connection_init closes the caller's socket.
      this.#events.onClosed({
        wasReady: this.#phase === 'ready',
        ...(this.#isClosing ? { how: 'left', close: null } : { how, close }),
      });
      this.#settled.reject(problem);
    });
  }

  #howLost(): ConnectionEnd {
    return HOW_LOST[this.#phase];
  }

  #failAsNoGraphql(): void {
    this.fail(
      upstreamProblem('upstream_unreachable', 'the upstream sent no GraphQL message'),
      this.#howLost(),
      UPSTREAM_FAILED,
    );
  }

  #receive(bytes: Buffer): void {
    const message = parseUpstreamMessage(bytes.toString());
    if (message === null) {
      this.#failAsNoGraphql();
      return;
    }
    const { type, id } = message;
    if (type === 'connection_ack') {
      clearTimeout(this.#ackTimer);
      if (this.#phase === 'opened') this.#events.onReady();
      this.#phase = 'ready';
      this.#settled.resolve(undefined);
    } else if (type === 'ping') this.send('{"type":"pong"}');
    else if (type === 'connection_error') {
      // The older protocol's refusal of a connection_init; the newer one closes with 4403.
      this.fail(upstreamProblem('upstream_unreachable', 'the upstream refused connection_init'), 'answered', {
        ...gatewayClose('upstream_closed'),
        closeCode: 4403,
        reason: 'upstream_closed: Forbidden',
      });
    } else if (id !== undefined && this.#phase === 'ready') {
      this.#events.onMessage({ ...message, id }, bytes);
    }
  }
}

const HOW_LOST = { connecting: 'connect', opened: 'connection', ready: 'answer' } as const;

function upstreamProblem(code: 'upstream_timeout' | 'upstream_unreachable', cause: string): Problem {
  return new Problem(code, { cause: new Error(cause) });
}

/** RFC 6455, section 7.1.5: no close frame was received. */
const CONNECTION_LOST = 1006;

/** Only the message tells ws's handshake timeout from its other errors. */
const HANDSHAKE_TIMEOUT = 'Opening handshake has timed out';

/** ws itself ends connections with broken framing or too large messages. */
function isProtocolError(error: Error & { code?: unknown }): boolean {
  return typeof error.code === 'string' && error.code.startsWith('WS_ERR_');
}
