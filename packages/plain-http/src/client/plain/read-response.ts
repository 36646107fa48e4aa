import type { IncomingHttpHeaders } from 'node:http';
import { PLAIN_FIELD_LINE, hasBareLf } from '../../message/plain-fields.ts';
import { keepLastRead } from '../../message/repeated-heads.ts';

export type ResponseHead = {
  status: number;
  /** Names in lower case; several values of one name are a list, as undici gives them. Frozen: several responses share it. */
  headers: IncomingHttpHeaders;
  bodyBytes: number;
  keepsConnection: boolean;
  /** How long the server keeps the connection when it is idle; null if it doesn't say. */
  keepAliveMs: number | null;
};

/**
 * Reads the head of a plain response, whose body has a stated length, and where its body starts. `incomplete` if more
 * bytes could make them one; null for all else, which undici has to read. It must never accept what undici reads in
 * another way (docs/design/forwarding.md).
 */
export type ReadHead = (bytes: Buffer) => { head: ResponseHead; bodyStart: number } | 'incomplete' | null;

const STATUS_LINE = /^HTTP\/1\.1 ([2-5]\d\d)(?: [\t -~\x80-\xff]*)?$/;

const LENGTH = /^(?:0|[1-9]\d{0,14})$/;

const START = 'HTTP/1.1 ';
const END_OF_HEAD = '\r\n\r\n';
const MAX_HEAD_BYTES = 16_384;

/** They have no body, whatever length they state. */
const WITHOUT_BODY = new Set([204, 205, 304]);
/** Fields that change how a message or its connection is read, and a name that can't be assigned. */
const FOR_UNDICI = new Set(['transfer-encoding', 'upgrade', 'proxy-connection', '__proto__']);

/** Reads the heads of one server's responses. One that repeats the last, byte for byte, isn't read again. */
export function createReadHead(): ReadHead {
  return keepLastRead((bytes) => {
    const headEnd = bytes.indexOf(END_OF_HEAD);
    if (headEnd === -1) return mayBecomeOne(bytes) ? 'incomplete' : null;
    const bodyStart = headEnd + END_OF_HEAD.length;
    if (bodyStart > MAX_HEAD_BYTES) return null;
    const head = readLines(bytes.toString('latin1', 0, headEnd).split('\r\n'));
    return head && { head, bodyStart };
  });
}

function mayBecomeOne(bytes: Buffer): boolean {
  const isHttp = START.startsWith(bytes.toString('latin1', 0, START.length));
  return isHttp && bytes.length < MAX_HEAD_BYTES && !hasBareLf(bytes);
}

function readLines([statusLine = '', ...lines]: string[]): ResponseHead | null {
  const status = Number(STATUS_LINE.exec(statusLine)?.[1]);
  if (Number.isNaN(status) || WITHOUT_BODY.has(status)) return null;
  const headers: IncomingHttpHeaders = {};
  for (const line of lines) {
    const [, name, value] = PLAIN_FIELD_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return null;
    const lower = name.toLowerCase();
    if (FOR_UNDICI.has(lower)) return null;
    add(headers, lower, value);
  }
  // Its type leaves out that any field may be repeated.
  const fields: Record<string, string | string[] | undefined> = headers;
  const { 'content-length': length, connection = 'keep-alive', 'keep-alive': keepAlive } = fields;
  if (typeof length !== 'string' || !LENGTH.test(length) || typeof connection !== 'string') return null;
  const option = connection.toLowerCase();
  if (option !== 'keep-alive' && option !== 'close') return null;
  return {
    status,
    headers: Object.freeze(headers),
    bodyBytes: Number(length),
    keepsConnection: option === 'keep-alive',
    keepAliveMs: keepAliveMs(keepAlive),
  };
}

function add(headers: IncomingHttpHeaders, name: string, value: string): void {
  const known = Object.hasOwn(headers, name) ? headers[name] : undefined;
  if (known === undefined) headers[name] = value;
  else if (typeof known === 'string') headers[name] = [known, value];
  else known.push(value);
}

function keepAliveMs(field: string | string[] | undefined): number | null {
  const seconds = typeof field === 'string' ? /timeout=(\d{1,9})/.exec(field)?.[1] : undefined;
  return seconds === undefined ? null : Number(seconds) * 1_000;
}
