import { WebSocket } from 'ws';
import { Problem } from '@tollgate/http/problem';
import { UPSTREAM_FAILED, socketEnding, endingOfUpstream } from '../ending.ts';
import type { Ending } from '../ending.ts';
import { createHeartbeat } from '../heartbeat.ts';
import type { Heartbeat } from '../heartbeat.ts';
import { parseUpstreamMessage } from '../message.ts';
import type { Message } from '../message.ts';
import { createOutlet } from '../outlet.ts';
import type { Outlet } from '../outlet.ts';
import type { Protocol } from '../protocol.ts';
import type { ConnectionEnd } from './upstream-addresses.ts';
import { createUpstreamIds } from './upstream-ids.ts';

export type UpstreamSettings = {
  maxMessageBytes: number;
  bufferMaxBytes: number;
  /** Until the WebSocket is open. */
  connectTimeoutMs: number;
  /** From then on, until connection_init is acknowledged. */
  ackTimeoutMs: number;
};

export type UpstreamEvents = {
  /** Something that is said of an operation, with the bytes that it came as. */
  onMessage: (message: UpstreamMessage, bytes: Buffer) => void;
  onReady: () => void;
  /** The connection is gone, by `close` too. Told before `ready` rejects. */
  onClosed: (closed: UpstreamClose) => void;
};

export type UpstreamMessage = Message & { id: string };

/** The upstream answers the upgrade with a refusal (4xx): to try again wouldn't help. */
export class UpstreamRefusal extends Problem {}

export type UpstreamClose = {
  how: ConnectionEnd;
  /** What the caller's socket is closed with; null where this side closed. */
  ending: Ending | null;
  wasReady: boolean;
};

/** How long the upstream has for its half of a close. */
const CLOSE_TIMEOUT_MS = 1_000;

export type Opening = {
  protocol: Protocol;
  url: string;
  headers: Record<string, string>;
  initPayload: unknown;
};

/** The connection to the upstream that belongs to one caller's socket, with the same subprotocol. */
export class UpstreamLink {
  /**
   * Resolves when the upstream has acknowledged connection_init.
   * @throws {Problem} upstream_unreachable, upstream_timeout.
   */
  readonly ready: Promise<unknown>;
  readonly ids = createUpstreamIds();
  readonly #socket: WebSocket;
  readonly #outlet: Outlet;
  readonly #heartbeat: Heartbeat;
  readonly #settings: UpstreamSettings;
  readonly #events: UpstreamEvents;
  readonly #settled = Promise.withResolvers<undefined>();
  /** `connecting`: nothing has been sent, whatever becomes of it. */
  #phase: 'connecting' | 'opened' | 'ready' = 'connecting';
  #isClosing = false;
  #paused = false;
  #failure: { problem: Problem; ending: Ending; how: ConnectionEnd } | undefined;
  #ackTimer: NodeJS.Timeout | undefined;

  /** `source` is what is paused while the upstream doesn't read. */
  constructor(settings: UpstreamSettings, opening: Opening, source: Source, events: UpstreamEvents) {
    const options = {
      headers: opening.headers,
      handshakeTimeout: settings.connectTimeoutMs,
      maxPayload: settings.maxMessageBytes,
      perMessageDeflate: false,
      followRedirects: false,
      closeTimeout: CLOSE_TIMEOUT_MS,
    };
    this.#settings = settings;
    this.#events = events;
    this.#socket = new WebSocket(opening.url, [opening.protocol.name], options);
    this.#heartbeat = createHeartbeat(this.#socket);
    this.#outlet = createOutlet(this.#socket, settings.bufferMaxBytes, source);
    this.ready = this.#settled.promise;
    // Whoever waits for it is told; that nobody does is no fault.
    this.ready.catch(() => undefined);
    this.#listen(opening.initPayload);
  }

  /** Whether the WebSocket came to be open, so that something was sent. */
  get wasOpened(): boolean {
    return this.#phase !== 'connecting';
  }

  send(data: string): void {
    this.#outlet.send(data);
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    // What was there already while nobody looked would else count as silence.
    this.#heartbeat.seen();
    this.#socket.resume();
  }

  /** Pings; cuts the connection where the last ping has had no answer. */
  checkAlive(): void {
    if (this.#phase === 'ready' && !this.#paused) this.#heartbeat.beat();
  }

  stalledMs(nowMs: number): number {
    return this.#outlet.stalledMs(nowMs);
  }

  /** The gateway's own end of it; nobody is told. */
  close(): void {
    this.#isClosing = true;
    clearTimeout(this.#ackTimer);
    if (this.#paused) this.#socket.resume();
    this.#outlet.close();
    this.#socket.close(1000);
  }

  /** What has to be said of the end, whatever close code follows. */
  fail(problem: Problem, how: ConnectionEnd, ending: Ending = socketEnding('upstream_closed')): void {
    this.#failure ??= { problem, how, ending };
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
        ending: isProtocolError(error) ? UPSTREAM_FAILED : socketEnding('upstream_closed'),
      };
    });
    socket.on('close', (code, reason) => {
      clearTimeout(this.#ackTimer);
      this.#outlet.close();
      const { problem, ending, how } = this.#failure ?? {
        problem: upstreamProblem('upstream_unreachable', `the upstream closed with ${String(code)}`),
        how: code === CONNECTION_LOST ? this.#howLost() : 'answered',
        ending: endingOfUpstream(code, reason.toString()),
      };
      // Before those who wait for it hear that it failed: a refused connection_init ends their socket.
      this.#events.onClosed({
        wasReady: this.#phase === 'ready',
        ...(this.#isClosing ? { how: 'left', ending: null } : { how, ending }),
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
        ...socketEnding('upstream_closed'),
        closeCode: 4403,
        reason: 'upstream_closed: Forbidden',
      });
    } else if (id !== undefined && this.#phase === 'ready') {
      this.#events.onMessage({ ...message, id }, bytes);
    }
  }
}

const HOW_LOST = { connecting: 'connect', opened: 'connection', ready: 'answer' } as const;

type Source = { pause: () => void; resume: () => void };

function upstreamProblem(code: 'upstream_timeout' | 'upstream_unreachable', cause: string): Problem {
  return new Problem(code, { cause: new Error(cause) });
}

/** RFC 6455, section 7.1.5: no close frame came. */
const CONNECTION_LOST = 1006;

/** ws tells a handshake's timeout from other errors by its message alone. */
const HANDSHAKE_TIMEOUT = 'Opening handshake has timed out';

/** ws ends a connection itself for what breaks its framing, or is too large. */
function isProtocolError(error: Error & { code?: unknown }): boolean {
  return typeof error.code === 'string' && error.code.startsWith('WS_ERR_');
}
