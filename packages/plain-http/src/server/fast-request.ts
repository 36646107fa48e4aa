import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { WholeRequest } from '../message/http-message.ts';
import type { ReadRequest } from './read-request.ts';

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
  #headers: IncomingHttpHeaders | undefined;

  constructor({ head, body }: ReadRequest, socket: Socket, repeatsHead: boolean) {
    this.method = head.method;
    this.url = head.url;
    this.rawHeaders = head.rawHeaders;
    this.repeatsHead = repeatsHead;
    this.wholeBody = body;
    this.socket = socket;
  }

  /** As node:http gives them. The caller may change them. */
  get headers(): IncomingHttpHeaders {
    this.#headers ??= byName(this.rawHeaders);
    return this.#headers;
  }

  get destroyed(): boolean {
    return this.socket.destroyed;
  }
}

function byName(rawHeaders: readonly string[]): IncomingHttpHeaders {
  const headers = Object.create(null) as Record<string, string | undefined>;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers[rawHeaders[index]?.toLowerCase() ?? ''] = rawHeaders[index + 1];
  }
  return headers;
}
