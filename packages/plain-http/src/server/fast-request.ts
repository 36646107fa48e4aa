import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { WholeRequest } from '../message/http-message.ts';
import type { RecentHeads } from '../message/recent-heads.ts';
import type { ReadRequest, ReadRequestHead } from './read-request.ts';

/** A class, because one is made for every call. */
export class FastRequest implements WholeRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersion = '1.1';
  readonly rawHeaders: string[];
  readonly repeatsHead: boolean;
  readonly wholeBody: Buffer | null;
  readonly complete = true;
  readonly socket: Socket;
  readonly #read: ReadRequestHead;
  readonly #recentHeads: RecentHeads<ReadRequestHead> | null;
  #headers: IncomingHttpHeaders | undefined;

  constructor(
    { read, body }: ReadRequest,
    socket: Socket,
    repeatsHead: boolean,
    recentHeads: RecentHeads<ReadRequestHead> | null,
  ) {
    const { head } = read;
    this.method = head.method;
    this.url = head.url;
    this.rawHeaders = head.rawHeaders;
    this.repeatsHead = repeatsHead;
    this.wholeBody = body;
    this.socket = socket;
    this.#read = read;
    this.#recentHeads = recentHeads;
  }

  /** As node:http gives them. The caller may change them. */
  get headers(): IncomingHttpHeaders {
    this.#headers ??= byName(this.rawHeaders);
    return this.#headers;
  }

  get destroyed(): boolean {
    return this.socket.destroyed;
  }

  get mayKeepHead(): boolean {
    return this.#read.mayBeKept;
  }

  keepHead(marks: readonly string[]): void {
    const read = this.#read;
    if (!read.mayBeKept) return;
    read.mayBeKept = false;
    read.keptBytes = bytesOf(`${read.text}\r\n\r\n`);
    // Not frozen: all code that reads a list of fields would then meet two kinds, which costs new heads 3 µs each.
    this.#recentHeads?.keep(read.text, read, marks);
  }

  forgetHead(): void {
    if (this.#read.keptBytes !== null) this.#recentHeads?.forget(this.#read.text);
  }
}

/** Not of Node.js' pool, whose parts would be kept with it. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(text.length);
  bytes.write(text, 'latin1');
  return bytes;
}

function byName(rawHeaders: readonly string[]): IncomingHttpHeaders {
  const headers = Object.create(null) as Record<string, string | undefined>;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers[rawHeaders[index]?.toLowerCase() ?? ''] = rawHeaders[index + 1];
  }
  return headers;
}
