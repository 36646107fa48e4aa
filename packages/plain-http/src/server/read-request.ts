import { PLAIN_FIELD_LINE } from '../message/plain-fields.ts';
import { keepLastRead } from '../message/repeated-heads.ts';

export type HeadLimits = {
  maxUrlBytes: number;
  maxHeaderBytes: number;
  maxHeaderCount: number;
};

export type ReadLimits = HeadLimits & { maxBodyBytes: number };

/** The head of a request; its names and values in turn, as received. No name is repeated. */
export type RequestHead = { method: 'GET' | 'POST'; url: string; rawHeaders: string[] };

export type ReadRequest = { head: RequestHead; body: Buffer | null };

/**
 * Reads bytes that are one whole, plain HTTP/1.1 request and nothing else: `GET` or `POST` with a path, each field at
 * most once, a body of stated length. `incomplete` if more bytes could make them one; null for all else, which
 * node:http has to read. It must never accept what node:http reads in another way (docs/design/listeners.md).
 */
export type ReadBytes = (bytes: Buffer) => ReadRequest | 'incomplete' | null;

/** A target in origin form (RFC 9112, section 3.2.1), without a fragment. */
const REQUEST_LINE = /^(GET|POST) (\/[!"$-~]*) HTTP\/1\.1$/;

const HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$/;
const LENGTH = /^(?:0|[1-9]\d{0,8})$/;

/** Fields that change how a message or its connection is read, and a name that can't be assigned. */
const FOR_NODE = new Set([
  'expect',
  'http2-settings',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  '__proto__',
]);

const END_OF_HEAD = '\r\n\r\n';
const STARTS = ['GET /', 'POST /'];

/** Reads a connection's requests. A head that repeats the last is the same object. */
export function createReadBytes(limits: ReadLimits): ReadBytes {
  const readHead = keepLastRead((bytes) => {
    const headEnd = bytes.indexOf(END_OF_HEAD);
    if (headEnd === -1) return mayBecomeOne(bytes, limits) ? 'incomplete' : null;
    const bodyStart = headEnd + END_OF_HEAD.length;
    if (bodyStart >= limits.maxHeaderBytes) return null;
    const read = readLines(bytes.toString('latin1', 0, headEnd).split('\r\n'), limits);
    return read && { ...read, bodyStart };
  });
  return (bytes) => {
    const read = readHead(bytes);
    if (read === null || read === 'incomplete') return read;
    const { head, bodyBytes, bodyStart } = read;
    const received = bytes.length - bodyStart;
    // What follows is the next request, which node:http keeps in order.
    if (received > bodyBytes) return null;
    if (received < bodyBytes) return 'incomplete';
    return { head, body: bodyBytes === 0 ? null : bytes.subarray(bodyStart) };
  };
}

function mayBecomeOne(bytes: Buffer, { maxHeaderBytes }: ReadLimits): boolean {
  if (bytes.length >= maxHeaderBytes) return false;
  const start = bytes.toString('latin1', 0, 'POST /'.length);
  return STARTS.some((known) => known.startsWith(start) || start.startsWith(known));
}

function readLines(lines: string[], limits: ReadLimits): { head: RequestHead; bodyBytes: number } | null {
  const [, method, url] = REQUEST_LINE.exec(lines[0] ?? '') ?? [];
  if (method === undefined || url === undefined || url.length > limits.maxUrlBytes) return null;
  if (lines.length - 1 > limits.maxHeaderCount) return null;
  const rawHeaders: string[] = [];
  const byName = new Map<string, string>();
  for (let index = 1; index < lines.length; index += 1) {
    const [, name, value] = PLAIN_FIELD_LINE.exec(lines[index] ?? '') ?? [];
    if (name === undefined || value === undefined) return null;
    const lower = name.toLowerCase();
    if (byName.has(lower) || FOR_NODE.has(lower)) return null;
    byName.set(lower, value);
    rawHeaders.push(name, value);
  }
  if (!HOST.test(byName.get('host') ?? '')) return null;
  if ((byName.get('connection') ?? 'keep-alive').toLowerCase() !== 'keep-alive') return null;
  const bodyBytes = bodyBytesOf(method, byName.get('content-length'));
  if (bodyBytes === null || bodyBytes > limits.maxBodyBytes) return null;
  return { head: { method: method as RequestHead['method'], url, rawHeaders }, bodyBytes };
}

function bodyBytesOf(method: string, declared: string | undefined): number | null {
  if (method === 'GET') return declared === undefined ? 0 : null;
  return declared !== undefined && LENGTH.test(declared) ? Number(declared) : null;
}
