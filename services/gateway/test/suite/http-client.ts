import { request } from 'node:http';
import { request as requestByTls } from 'node:https';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { exchangeRaw } from '@tollgate/plain-http/raw-client';

export type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer; json: () => unknown };

export type Call = {
  method?: string;
  /** A body is JSON unless they say otherwise. */
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
  /** The authority of the server's certificate. */
  ca?: string;
};

/** A JSON document of so many bytes, from 2 on, that names no operation. */
export function documentOf(bytes: number): Buffer {
  return Buffer.alloc(bytes, ' ').fill('{}', 0, 2);
}

/** One request on a connection of its own; unlike fetch, sets any header and decodes nothing. */
export async function call(url: string, options: Call = {}): Promise<Answer> {
  const answer = await begin(url, options).answer;
  const body = await buffer(answer);
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body,
    json: () => JSON.parse(body.toString()) as unknown,
  };
}

/** Like call, but returns the response while its body arrives. */
export function begin(
  url: string,
  { method = 'POST', headers = {}, body, ca }: Call = {},
): { request: ClientRequest; answer: Promise<IncomingMessage> } {
  const length =
    body === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': Buffer.byteLength(body) };
  const type = body === undefined || 'content-type' in headers ? {} : { 'content-type': 'application/json' };
  const options = { method, headers: { ...type, ...length, ...headers }, agent: false } as const;
  const sent = url.startsWith('https:') ? requestByTls(url, { ...options, ca }) : request(url, options);
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
  sent.end(body);
  return { request: sent, answer };
}

/** Sends bytes unchanged, and returns all that comes back until the server closes or is silent. */
export function sendRaw(url: string, bytes: string | Buffer, silenceMs = 500): Promise<string> {
  return exchangeRaw(url, bytes, { silenceMs });
}
