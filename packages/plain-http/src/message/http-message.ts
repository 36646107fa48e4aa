import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** A request that has arrived whole, from the listener's fast path (docs/design/listeners.md). */
export type WholeRequest = {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  /** Names and values in turn, as received. */
  readonly rawHeaders: string[];
  readonly headers: IncomingHttpHeaders;
  /**
   * Whether its connection's last request had the same head, or the process keeps it: then `rawHeaders` is the same
   * list, too, which belongs to other requests as well.
   */
  readonly repeatsHead: boolean;
  /** Whether the process could keep its head, and doesn't: a head that came before, on any connection. */
  readonly mayKeepHead: boolean;
  /** Keeps its head for requests on all connections. `marks` are what it can be forgotten by. */
  keepHead: (marks: readonly string[]) => void;
  forgetHead: () => void;
  /** Null if it has none. */
  readonly wholeBody: Buffer | null;
  readonly complete: true;
  readonly destroyed: boolean;
  readonly socket: Socket;
};

/** A request of a handler that serves node:http and the fast path alike. */
export type HttpRequest = IncomingMessage | WholeRequest;

/** What such a handler uses of its response, as node:http's ServerResponse defines it. */
export type HttpResponse = {
  readonly req: { readonly method?: string | undefined; readonly complete: boolean };
  readonly socket: Socket | null;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  readonly writableLength: number;
  readonly writableNeedDrain: boolean;
  readonly destroyed: boolean;
  statusCode: number;
  shouldKeepAlive: boolean;
  useChunkedEncodingByDefault: boolean;
  setHeader(name: string, value: string): unknown;
  getHeader(name: string): number | string | string[] | undefined;
  writeHead(status: number, fields?: string[] | Record<string, string | number>): unknown;
  /** Only the fast path's. `shared` comes first; a list is checked and put together once. */
  writeSharedHead?(status: number, shared: readonly string[], fields: readonly string[]): unknown;
  flushHeaders(): void;
  write(chunk: Buffer): boolean;
  end(body?: string | Buffer, encoding?: BufferEncoding): unknown;
  destroy(): unknown;
  on(event: ResponseEvent, listener: () => void): unknown;
  once(event: ResponseEvent, listener: () => void): unknown;
  removeListener(event: ResponseEvent, listener: () => void): unknown;
  listenerCount(event: ResponseEvent): number;
};

type ResponseEvent = 'close' | 'drain' | 'finish' | 'timeout';

/** Writes a head whose first fields are a list that many responses share; names and values in turn. */
export function writeSharedHead(
  res: Pick<HttpResponse, 'writeHead' | 'writeSharedHead'>,
  status: number,
  shared: readonly string[],
  fields: readonly string[],
): void {
  if (res.writeSharedHead === undefined) res.writeHead(status, [...shared, ...fields]);
  else res.writeSharedHead(status, shared, fields);
}

export type HttpHandler = (req: HttpRequest, res: HttpResponse) => void;

export function isWhole(req: HttpRequest): req is WholeRequest {
  return 'wholeBody' in req;
}
