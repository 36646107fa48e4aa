import { exchangeRaw } from '@tollgate/plain-http/raw-client';

/** Texts are bytes, one character each. */
export type RawRequest = {
  method: string;
  /** Path and query. */
  target: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: string;
  /** Sent in chunks of this many bytes, without a Content-Length. */
  chunkBytes?: number;
};

export type Answer = {
  status: number;
  error: string | null;
  challenge: boolean;
  noStore: boolean;
  active: boolean | null;
};

export async function exchange(baseUrl: string, request: RawRequest): Promise<Answer> {
  return readAnswer(await exchangeText(baseUrl, request));
}

export function exchangeText(baseUrl: string, request: RawRequest): Promise<string> {
  return exchangeRaw(baseUrl, bytesOf(request), { silenceMs: 5_000 });
}

export function summary({ status, error, challenge, noStore, active }: Answer): string {
  return [
    String(status),
    error ?? (active === null ? '' : active ? 'active' : 'inactive'),
    challenge ? 'challenge' : '',
    noStore ? '' : 'storable',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function bytesOf({ method, target, headers, body, chunkBytes }: RawRequest): string {
  const framing = chunkBytes === undefined ? contentLength(headers, body) : ['Transfer-Encoding: chunked'];
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...framing,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${chunkBytes === undefined ? body : chunked(body, chunkBytes)}`;
}

function contentLength(headers: RawRequest['headers'], body: string): string[] {
  const given = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  return given ? [] : [`Content-Length: ${String(body.length)}`];
}

function chunked(body: string, chunkBytes: number): string {
  let chunks = '';
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.slice(at, at + chunkBytes);
    chunks += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  }
  return `${chunks}0\r\n\r\n`;
}

function readAnswer(answer: string): Answer {
  const final = answer.replace(/^HTTP\/1\.1 100 [^]*?\r\n\r\n/, '');
  const end = final.indexOf('\r\n\r\n');
  const head = end === -1 ? final : final.slice(0, end);
  const body = end === -1 ? '' : final.slice(end + 4);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0),
    error: member(body, 'error') ?? member(body, 'code'),
    challenge: /^www-authenticate:/im.test(head),
    noStore: /^cache-control:.*\bno-store\b/im.test(head),
    active: /"active":(true|false)/.exec(body)?.[1] === undefined ? null : body.includes('"active":true'),
  };
}

function member(body: string, name: string): string | null {
  return new RegExp(`"${name}":"([^"]*)"`).exec(body)?.[1] ?? null;
}
