import type { Socket } from 'node:net';
import type { HttpHandler } from '../message/http-message.ts';
import { FastRequest } from './fast-request.ts';
import { FastResponse } from './fast-response.ts';
import type { FastResponseOptions } from './fast-response.ts';
import type { RecentHeads } from '../message/recent-heads.ts';
import { createReadBytes } from './read-request.ts';
import type { ReadLimits, ReadRequestHead, RequestHead } from './read-request.ts';

/** How long bytes that don't make a request yet are kept from node:http, whose time limits hold from then on. */
const INCOMPLETE_MS = 100;

const NOTHING: Buffer = Buffer.alloc(0);

export type FastConnectionOptions = Pick<FastResponseOptions, 'keepAliveLines'> & {
  limits: ReadLimits;
  /** Who serves requests with this head; null for node:http. Asked once for a head that repeats the last, or is kept. */
  handlerOf: (head: RequestHead) => HttpHandler | null;
  /** Null if no head is kept beyond its connection. */
  recentHeads: RecentHeads<ReadRequestHead> | null;
  /** Called with each request before its handler. */
  onRequest: HttpHandler;
  /** Called with bytes that are not for the fast path, and with the connection from then on. */
  onOther: (socket: Socket, received: Buffer) => void;
  /** The caller has ended the connection within a request. */
  onBrokenOff: (socket: Socket) => void;
  onClosed: () => void;
};

/**
 * A connection whose requests arrive whole and plain, until one doesn't: node:http has it from that one on. A class,
 * since a gateway has tens of thousands of them.
 */
export class FastConnection {
  readonly socket: Socket;
  /** By performance.now(). */
  idleSinceMs = performance.now();
  isNew = true;
  readonly #options: FastConnectionOptions;
  readonly #read;
  readonly #responseOptions: FastResponseOptions;
  #response: FastResponse | null = null;
  #received: Buffer = NOTHING;
  #incomplete: NodeJS.Timeout | undefined;
  #last: ReadRequestHead | undefined;

  constructor(socket: Socket, options: FastConnectionOptions) {
    this.socket = socket;
    this.#options = options;
    this.#read = createReadBytes(options.limits, options.recentHeads);
    this.#responseOptions = { keepAliveLines: options.keepAliveLines, onFinished: this.#onFinished };
    socket
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('error', this.#onError)
      .on('close', this.#onClose)
      .on('drain', this.#onDrain)
      .on('timeout', this.#onTimeout);
  }

  get isIdle(): boolean {
    return this.#response === null && this.#received.length === 0;
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#response !== null) {
      // The next request waits, unread, for this one's answer.
      this.socket.pause();
      this.socket.unshift(chunk);
      return;
    }
    const bytes = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const request = this.#read(bytes);
    if (request === 'incomplete') {
      this.#received = bytes;
      this.#incomplete ??= setTimeout(this.#leave, INCOMPLETE_MS);
      return;
    }
    const handler = request && this.#handlerOf(request.read);
    if (request === null || handler === null) {
      this.#received = bytes;
      this.#leave();
      return;
    }
    const { read } = request;
    // A head that repeats the last one is the same object.
    const repeatsHead = read === this.#last || read.keptBytes !== null;
    this.#last = read;
    this.#received = NOTHING;
    this.#clearIncomplete();
    this.isNew = false;
    const req = new FastRequest(request, this.socket, repeatsHead, this.#options.recentHeads);
    this.#response = new FastResponse(req, this.#responseOptions);
    this.#options.onRequest(req, this.#response);
    handler(req, this.#response);
  };

  #handlerOf(read: ReadRequestHead): HttpHandler | null {
    if (read.handler === undefined) read.handler = this.#options.handlerOf(read.head);
    return read.handler;
  }

  readonly #onFinished = ({ shouldKeepAlive }: FastResponse): void => {
    const { socket } = this;
    this.#response = null;
    this.idleSinceMs = performance.now();
    if (!shouldKeepAlive || socket.readableEnded) {
      socket.destroySoon();
      return;
    }
    // A handler may have guarded against a caller that doesn't read.
    if ((socket.timeout ?? 0) > 0) socket.setTimeout(0);
    if (socket.isPaused()) socket.resume();
  };

  readonly #leave = (): void => {
    const received = this.#received;
    const { socket } = this;
    this.#clearIncomplete();
    socket
      .off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('error', this.#onError)
      .off('close', this.#onClose)
      .off('drain', this.#onDrain)
      .off('timeout', this.#onTimeout);
    this.#options.onClosed();
    this.#options.onOther(socket, received);
  };

  #clearIncomplete(): void {
    clearTimeout(this.#incomplete);
    this.#incomplete = undefined;
  }

  /** A caller that sends no more may still read the answer under way (RFC 9112, section 9.6). */
  readonly #onEnd = (): void => {
    if (this.#response !== null) return;
    const isWithinRequest = this.#received.length > 0;
    this.#clearIncomplete();
    this.#received = NOTHING;
    if (isWithinRequest) this.#options.onBrokenOff(this.socket);
    else this.socket.end();
  };

  readonly #onError = (): void => {
    this.socket.destroy();
  };

  readonly #onClose = (): void => {
    this.#clearIncomplete();
    this.#options.onClosed();
    this.#response?.closed();
  };

  readonly #onDrain = (): void => {
    this.#response?.emit('drain');
  };

  readonly #onTimeout = (): void => {
    this.#response?.emit('timeout');
  };
}
