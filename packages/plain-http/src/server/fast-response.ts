import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { HttpResponse } from '../message/http-message.ts';
import type { FastRequest } from './fast-request.ts';
import { responseHead, sharedResponseHead } from './response-head.ts';
import type { ResponseFields, ResponseHead } from './response-head.ts';

export type FastResponseOptions = {
  /** The fields of a connection that stays open. */
  keepAliveLines: string;
  /** Called when the last byte has left, before the events. */
  onFinished: (response: FastResponse) => void;
};

const LAST_CHUNK = '0\r\n\r\n';

/** Of the part of ServerResponse that handlers use, without its streams. A class, because one is made for every call. */
export class FastResponse extends EventEmitter implements HttpResponse {
  readonly req: FastRequest;
  socket: Socket | null;
  statusCode = 200;
  shouldKeepAlive = true;
  useChunkedEncodingByDefault = true;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  destroyed = false;
  readonly #options: FastResponseOptions;
  #fields: string[] = [];
  /** Until it is sent. */
  #head = '';
  #isChunked = false;

  constructor(req: FastRequest, options: FastResponseOptions) {
    super();
    this.req = req;
    this.socket = req.socket;
    this.#options = options;
  }

  get writableLength(): number {
    return this.socket?.writableLength ?? 0;
  }

  get writableNeedDrain(): boolean {
    return this.socket?.writableNeedDrain ?? false;
  }

  setHeader(name: string, value: string): void {
    const at = this.#indexOf(name);
    this.#fields.splice(at === -1 ? this.#fields.length : at, 2, name, value);
  }

  getHeader(name: string): string | undefined {
    const at = this.#indexOf(name);
    return at === -1 ? undefined : this.#fields[at + 1];
  }

  writeHead(status: number, fields: ResponseFields = []): this {
    this.#begin(status, responseHead(status, this.#fields, fields));
    return this;
  }

  writeSharedHead(status: number, shared: readonly string[], fields: readonly string[]): void {
    if (this.#fields.length > 0) this.writeHead(status, [...shared, ...fields]);
    else this.#begin(status, sharedResponseHead(status, shared, fields));
  }

  #begin(status: number, { text, hasLength, connection }: ResponseHead): void {
    this.statusCode = status;
    this.headersSent = true;
    if (connection !== undefined) this.shouldKeepAlive = connection.toLowerCase() === 'keep-alive';
    const hasBody = status !== 204 && status !== 304;
    this.#isChunked = hasBody && !hasLength && this.useChunkedEncodingByDefault;
    if (hasBody && !hasLength && !this.#isChunked) this.shouldKeepAlive = false;
    const coding = this.#isChunked ? 'Transfer-Encoding: chunked\r\n' : '';
    this.#head = `${text}${connection === undefined ? this.#connectionLines() : ''}${coding}\r\n`;
  }

  flushHeaders(): void {
    if (this.#head === '') return;
    this.socket?.write(this.#head, 'latin1');
    this.#head = '';
  }

  write(chunk: Buffer): boolean {
    const { socket } = this;
    if (socket === null) return false;
    socket.cork();
    this.flushHeaders();
    if (this.#isChunked) socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1');
    let hasRoom = socket.write(chunk);
    if (this.#isChunked) hasRoom = socket.write('\r\n', 'latin1');
    socket.uncork();
    return hasRoom;
  }

  end(body: string | Buffer = '', encoding: BufferEncoding = 'utf8'): void {
    const { socket } = this;
    this.writableEnded = true;
    if (socket === null) return;
    if (body.length === 0 || (typeof body === 'string' && encoding === 'latin1' && !this.#isChunked)) {
      // One string leaves in one write.
      const text = `${this.#head}${String(body)}${this.#isChunked ? LAST_CHUNK : ''}`;
      this.#head = '';
      socket.write(text, 'latin1', this.#finished);
      return;
    }
    const bytes = typeof body === 'string' ? Buffer.from(body, encoding) : body;
    socket.cork();
    if (this.#isChunked) {
      this.write(bytes);
      socket.write(LAST_CHUNK, 'latin1', this.#finished);
    } else {
      this.flushHeaders();
      socket.write(bytes, this.#finished);
    }
    socket.uncork();
  }

  destroy(): void {
    this.socket?.destroy();
  }

  /** The connection has closed before the response's end. */
  closed(): void {
    if (this.socket === null) return;
    this.socket = null;
    this.destroyed = true;
    this.emit('close');
  }

  #indexOf(name: string): number {
    const lower = name.toLowerCase();
    return this.#fields.findIndex((own, index) => index % 2 === 0 && own.toLowerCase() === lower);
  }

  #connectionLines(): string {
    return this.shouldKeepAlive ? this.#options.keepAliveLines : 'Connection: close\r\n';
  }

  readonly #finished = (error?: Error | null): void => {
    // The connection's `close` follows an error.
    if (this.socket === null || (error ?? null) !== null) return;
    this.writableFinished = true;
    this.socket = null;
    this.#options.onFinished(this);
    this.emit('finish');
    this.emit('close');
  };
}
