import { EventEmitter } from 'node:events';
import type { HttpHandler, HttpRequest, HttpResponse, WholeRequest } from '@tollgate/plain-http/message';
import { fieldValues } from '@tollgate/http/request-head';

/** The answer to a call that came by MCP: what is kept of its body, and how long it was. */
export type CollectedAnswer = {
  status: number;
  header: (name: string) => string | undefined;
  body: Buffer;
  bodyBytes: number;
};

/** `maxBytes` of the body are kept. Null if the caller has gone, or the answer was cut off. */
export type CallData = (
  caller: { req: HttpRequest; signal: AbortSignal },
  request: { path: string; body: object; maxBytes: number },
) => Promise<CollectedAnswer | null>;

/** What tells where the caller is, and to which trace it belongs. */
const PASSED_ON = [
  'host',
  'authorization',
  'user-agent',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-real-ip',
  'traceparent',
  'tracestate',
];

/**
 * Runs a tool's call through the data endpoint itself, as a request that has arrived whole: it is authenticated, entitled,
 * admitted, forwarded and settled as any other, and there is no second way to be metered (docs/design/agents.md).
 */
export function createCallData(dataEndpoint: HttpHandler): CallData {
  return ({ req, signal }, { path, body, maxBytes }) => {
    const wholeBody = Buffer.from(JSON.stringify(body));
    const rawHeaders = [
      ...PASSED_ON.flatMap((name) => fieldValues(req.rawHeaders, name).flatMap((value) => [name, value])),
      'content-type',
      'application/json',
      'content-length',
      String(wholeBody.length),
      // A refusal has its own status then (GraphQL over HTTP).
      'accept',
      'application/graphql-response+json, application/json;q=0.9',
      'accept-encoding',
      'identity',
    ];
    const call: WholeRequest = {
      method: 'POST',
      url: path,
      httpVersion: '1.1',
      rawHeaders,
      headers: { accept: 'application/graphql-response+json, application/json;q=0.9' },
      repeatsHead: false,
      // It is made anew for each call.
      mayKeepHead: false,
      keepHead: () => undefined,
      forgetHead: () => undefined,
      wholeBody,
      complete: true,
      destroyed: false,
      socket: req.socket,
    };
    return new Promise((resolve) => {
      const res = new CollectingResponse(call, maxBytes, resolve);
      const leave = () => {
        res.destroy();
      };
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
      res.once('close', () => {
        signal.removeEventListener('abort', leave);
      });
      if (!res.destroyed) dataEndpoint(call, res);
    });
  };
}

/** A response that keeps the beginning of its body instead of sending it. */
class CollectingResponse extends EventEmitter implements HttpResponse {
  readonly req: HttpResponse['req'];
  readonly socket = null;
  readonly writableLength = 0;
  readonly writableNeedDrain = false;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  destroyed = false;
  statusCode = 200;
  shouldKeepAlive = true;
  useChunkedEncodingByDefault = true;
  readonly #fields = new Map<string, string>();
  readonly #chunks: Buffer[] = [];
  readonly #resolve: (answer: CollectedAnswer | null) => void;
  #room: number;
  #bodyBytes = 0;

  constructor(req: HttpResponse['req'], maxBytes: number, resolve: (answer: CollectedAnswer | null) => void) {
    super();
    this.req = req;
    this.#room = maxBytes;
    this.#resolve = resolve;
  }

  setHeader(name: string, value: string): void {
    this.#fields.set(name.toLowerCase(), value);
  }

  getHeader(name: string): string | undefined {
    return this.#fields.get(name.toLowerCase());
  }

  writeHead(status: number, fields: string[] | Record<string, string | number> = []): void {
    this.statusCode = status;
    this.headersSent = true;
    const pairs = Array.isArray(fields) ? pairsOf(fields) : Object.entries(fields);
    for (const [name, value] of pairs) this.setHeader(name, String(value));
  }

  flushHeaders(): void {
    this.headersSent = true;
  }

  write(chunk: Buffer): boolean {
    this.#bodyBytes += chunk.length;
    if (this.#room > 0) this.#chunks.push(chunk.subarray(0, this.#room));
    this.#room -= chunk.length;
    return true;
  }

  end(body?: string | Buffer, encoding: BufferEncoding = 'utf8'): void {
    if (this.writableEnded || this.destroyed) return;
    if (body !== undefined) this.write(Buffer.from(body as string, encoding));
    this.writableEnded = true;
    this.writableFinished = true;
    this.emit('finish');
    this.emit('close');
    this.#resolve({
      status: this.statusCode,
      header: (name) => this.#fields.get(name),
      body: Buffer.concat(this.#chunks),
      bodyBytes: this.#bodyBytes,
    });
  }

  destroy(): void {
    if (this.destroyed || this.writableEnded) return;
    this.destroyed = true;
    this.emit('close');
    this.#resolve(null);
  }
}

function pairsOf(fields: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < fields.length; index += 2)
    pairs.push([fields[index] ?? '', fields[index + 1] ?? '']);
  return pairs;
}
