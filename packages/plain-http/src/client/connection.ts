import type { Socket } from 'node:net';
import { errors } from 'undici';
import type { Client, Dispatcher } from 'undici';
import type { Connect } from './connect.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { Holder, PoolRequest } from './pool-request.ts';
import type { PlainExchange } from './plain/plain-exchange.ts';
import type { ReadHead } from './plain/read-response.ts';
import { hearOut } from './hear-out.ts';
import { undiciOn } from './undici-client.ts';

/** A server closes an idle connection this long before the time that it states, as undici assumes. */
const KEEP_ALIVE_THRESHOLD_MS = 2_000;

const NOTHING: Buffer = Buffer.alloc(0);

export type ConnectionOptions = {
  origin: URL;
  connect: Connect;
  limits: ConnectionLimits;
  readHead: ReadHead;
  /** Both with performance.now(). */
  onSent: (nowMs: number) => void;
  onFree: (connection: Connection, nowMs: number) => void;
  /** With an exchange that was to be sent on it, and wasn't. */
  onClosed: (connection: Connection, unsent: PlainExchange | null) => void;
};

/**
 * One connection, with one exchange at a time. Those that are plain it carries out itself; with the first that isn't,
 * undici has the connection for good, with the bytes received so far (docs/design/forwarding.md).
 */
export class Connection {
  readonly #options: ConnectionOptions;
  #socket: Socket | null = null;
  #client: Client | null = null;
  #exchange: PlainExchange | null;
  #isSent = false;
  #received: Buffer = NOTHING;
  #sinceMs = 0;
  /** How long it may be idle. */
  keepAliveMs = 0;
  #agedAtMs = Infinity;
  #requests = 0;
  /** Kept by the pool. */
  holder: Holder;

  /** Opens it, and sends the request. */
  constructor(options: ConnectionOptions, exchange: PlainExchange) {
    this.#options = options;
    this.#exchange = exchange;
    options.connect(this.#onOpen, this.#onNotOpened);
  }

  get isUndicis(): boolean {
    return this.#client !== null;
  }

  /** Whether it is under way with that handler's exchange. */
  carries(handler: Dispatcher.DispatchHandler): boolean {
    return this.#exchange?.handler === handler;
  }

  /** Takes an exchange, and sends it with `send`. */
  take(exchange: PlainExchange): void {
    this.#exchange = exchange;
  }

  send(): void {
    const exchange = this.#exchange;
    const socket = this.#socket;
    if (exchange === null || socket === null || socket.destroyed) return;
    this.#requests += 1;
    if (this.#client !== null || exchange.text === null) {
      this.#sendByUndici(socket, exchange);
      return;
    }
    this.#isSent = exchange.send(socket, exchange.text);
    this.#sinceMs = performance.now();
    if (this.#isSent) this.#options.onSent(this.#sinceMs);
    else this.#free(this.#sinceMs);
  }

  destroy(): void {
    this.#socket?.destroy();
  }

  /** Ends what takes too long. Returns after how many ms to look again. */
  check(nowMs: number): number {
    const left = this.#leftMs(nowMs);
    if (left > 0) return left;
    const exchange = this.#exchange;
    exchange?.abort(exchange.hasHead ? new errors.BodyTimeoutError() : new errors.HeadersTimeoutError());
    this.destroy();
    return Infinity;
  }

  /** Of its time limit; Infinity while another's holds. */
  #leftMs(nowMs: number): number {
    const exchange = this.#exchange;
    if (this.#socket === null) return Infinity;
    const sinceMs = nowMs - this.#sinceMs;
    if (exchange === null) return Math.min(this.keepAliveMs - sinceMs, this.#agedAtMs - nowMs);
    const { headersTimeoutMs, bodyIdleTimeoutMs } = this.#options.limits;
    if (this.#client !== null) return Infinity;
    // The limit on silence begins with the head.
    if (!exchange.hasHead) return Math.min(headersTimeoutMs - sinceMs, bodyIdleTimeoutMs);
    return exchange.paused ? bodyIdleTimeoutMs : bodyIdleTimeoutMs - sinceMs;
  }

  readonly #onOpen = (socket: Socket): void => {
    const { maxAgeMs, keepAliveMs } = this.#options.limits;
    this.#socket = socket;
    this.keepAliveMs = keepAliveMs;
    this.#agedAtMs = performance.now() + maxAgeMs * (1 - Math.random() / 5);
    hearOut(socket);
    socket.on('close', this.#onClose);
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError);
    this.send();
  };

  readonly #onNotOpened = (error: Error): void => {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#options.onClosed(this, null);
    exchange?.fail(error);
  };

  #sendByUndici(socket: Socket, { request, handler }: PlainExchange): void {
    this.#isSent = true;
    this.#client ??= this.#handOver(socket, null);
    this.#client.dispatch(forUndici(request), handler);
    // It has refused the request itself.
    if (this.#client.stats.size === 0) this.#free(performance.now());
  }

  #handOver(socket: Socket, received: Buffer | null): Client {
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError);
    socket.pause();
    const { origin, limits } = this.#options;
    const client = undiciOn(socket, { origin, limits, received });
    // Emitted after each request.
    client.on('drain', () => {
      if (client.stats.size === 0 && this.#isSent) this.#free(performance.now());
    });
    return client;
  }

  readonly #onData = (chunk: Buffer): void => {
    const exchange = this.#exchange;
    // No request awaits it, and it must not become the response to the next one.
    if (exchange === null || !this.#isSent || exchange.isOver) {
      this.destroy();
      return;
    }
    try {
      this.#read(exchange, chunk);
    } catch (error) {
      exchange.abort(error as Error);
      this.destroy();
    }
  };

  #read(exchange: PlainExchange, chunk: Buffer): void {
    let body = chunk;
    if (!exchange.hasHead) {
      const bytes = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      const read = this.#options.readHead(bytes);
      if (read === 'incomplete') {
        this.#received = bytes;
        return;
      }
      this.#received = NOTHING;
      if (read === null) {
        this.#readByUndici(exchange, bytes);
        return;
      }
      this.keepAliveMs = this.#keepAliveOf(read.head.keepsConnection, read.head.keepAliveMs);
      exchange.onHead(read.head);
      if (exchange.isOver) return;
      body = bytes.subarray(read.bodyStart);
    }
    this.#sinceMs = performance.now();
    const isExact = exchange.onBody(body) === body.length;
    if (exchange.isOver || !exchange.isComplete) return;
    // Behind the rest of a request that was answered before it was sent, the next one might never be read.
    if (!isExact || this.keepAliveMs <= 0 || this.#socket?.writableLength !== 0) this.destroy();
    exchange.end();
    this.#free(this.#sinceMs);
  }

  #keepAliveOf(keepsConnection: boolean, statedMs: number | null): number {
    if (!keepsConnection) return 0;
    const { keepAliveMs } = this.#options.limits;
    return statedMs === null ? keepAliveMs : Math.min(statedMs - KEEP_ALIVE_THRESHOLD_MS, keepAliveMs);
  }

  #readByUndici({ request, handler }: PlainExchange, received: Buffer): void {
    const socket = this.#socket;
    if (socket === null) return;
    this.#client = this.#handOver(socket, received);
    this.#client.dispatch(forUndici(request), handler);
  }

  #free(nowMs: number): void {
    this.#exchange = null;
    this.#isSent = false;
    this.#sinceMs = nowMs;
    if (this.#socket?.destroyed === true) return;
    if (nowMs > this.#agedAtMs || this.#requests >= (this.#options.limits.maxRequests ?? Infinity))
      this.destroy();
    else this.#options.onFree(this, nowMs);
  }

  readonly #onEnd = (): void => {
    this.#fail(new errors.SocketError('other side closed'));
    this.destroy();
  };

  readonly #onError = (error: Error): void => {
    this.#fail(error);
  };

  /** An exchange that wasn't sent isn't lost. */
  #fail(error: Error): void {
    if (this.#isSent) this.#exchange?.fail(error);
  }

  readonly #onClose = (): void => {
    const exchange = this.#exchange;
    const isUnsent = exchange !== null && !this.#isSent;
    if (this.#client === null) this.#fail(new errors.SocketError('other side closed'));
    this.#exchange = null;
    this.#options.onClosed(this, isUnsent ? exchange : null);
  };
}

function forUndici({ method, path, sharedHeaders = [], headers, body }: PoolRequest) {
  // With one request at a time there is nothing to block.
  return { method, path, headers: [...sharedHeaders, ...headers], body, blocking: false };
}
