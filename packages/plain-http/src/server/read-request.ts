import { PLAIN_FIELD_LINE } from '../message/plain-fields.ts';
import type { HttpHandler } from '../message/http-message.ts';
import type { RecentHeads } from '../message/recent-heads.ts';
import { keepLastRead } from '../message/repeated-heads.ts';

export type HeadLimits = {
  maxUrlBytes: number;
  maxHeaderBytes: number;
  maxHeaderCount: number;
};

export type ReadLimits = HeadLimits & { maxBodyBytes: number };

/** The head of a request; its names and values in turn, as received. No name is repeated. */
export type RequestHead = { method: 'GET' | 'POST'; url: string; rawHeaders: string[] };

/** A head as it was read. One that is kept is the same object on all connections. */
export type ReadRequestHead = {
  readonly head: RequestHead;
  readonly bodyBytes: number;
  readonly bodyStart: number;
  /** Without the empty line, each character a byte. */
  readonly text: string;
  /** Whether it came before, on any connection, and isn't kept. */
  mayBeKept: boolean;
  /** Its bytes, if it is kept. */
  keptBytes: Buffer | null;
  /** Undefined until it was asked for. */
  handler: HttpHandler | null | undefined;
};

export type ReadRequest = { read: ReadRequestHead; body: Buffer | null };

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

/** A connection whose heads are all new, as with an ID in each, pays for a look at what is kept once in so many. */
const MISSES_BEFORE_SKIPPING = 32;
const LOOK_EVERY = 16;

const END_OF_HEAD = '\r\n\r\n';
const STARTS = ['GET /', 'POST /'];

/** Reads a connection's requests. A head that repeats the last, or one that is kept, is the same object. */
export function createReadBytes(
  limits: ReadLimits,
  recentHeads: RecentHeads<ReadRequestHead> | null = null,
): ReadBytes {
  let misses = 0;
  const readHead = keepLastRead<ReadRequestHead>((bytes) => {
    const headEnd = bytes.indexOf(END_OF_HEAD);
    if (headEnd === -1) return mayBecomeOne(bytes, limits) ? 'incomplete' : null;
    const bodyStart = headEnd + END_OF_HEAD.length;
    if (bodyStart >= limits.maxHeaderBytes) return null;
    const text = bytes.toString('latin1', 0, headEnd);
    const looks = misses < MISSES_BEFORE_SKIPPING || misses % LOOK_EVERY === 0;
    const known = looks ? recentHeads?.find(text) : undefined;
    if (known !== undefined) {
      misses = 0;
      return known;
    }
    misses += 1;
    const read = readLines(text.split('\r\n'), limits);
    if (read === null) return null;
    const mayBeKept = (looks && recentHeads?.cameBefore(bytes.subarray(0, headEnd))) ?? false;
    const { head, bodyBytes } = read;
    return { head, bodyBytes, bodyStart, text, mayBeKept, keptBytes: null, handler: undefined };
  });
  return (bytes) => {
    const read = readHead(bytes);
    if (read === null || read === 'incomplete') return read;
    const { bodyBytes, bodyStart } = read;
    const received = bytes.length - bodyStart;
    // What follows is the next request, which node:http keeps in order.
    if (received > bodyBytes) return null;
    if (received < bodyBytes) return 'incomplete';
    return { read, body: bodyBytes === 0 ? null : bytes.subarray(bodyStart) };
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
