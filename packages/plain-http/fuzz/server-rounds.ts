import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { isWhole } from '../src/message/http-message.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../src/message/http-message.ts';
import { createRequestHeads, openFastPath } from '../src/server/fast-path.ts';
import { connectRaw } from '../test/suite/raw-client.ts';
import { damaged, pieces } from './random.ts';
import type { Random } from './random.ts';
import type { Rounds } from './rounds.ts';

const LIMITS = { maxUrlBytes: 1_000, maxHeaderBytes: 8_192, maxHeaderCount: 50, maxBodyBytes: 65_536 };
const KEEP_ALIVE_MS = 65_000;

/** A connection's conversation: what handlers saw, and what came back. */
type Heard = { seen: (string | null)[]; received: string };

/** Conversations with a server that has a fast path, compared with those with node:http alone. */
export async function openServerRounds(): Promise<Rounds> {
  // In the order in which they began; null for one that was broken off.
  let seen: (string | null)[] = [];
  let plain = 0;
  const handler: HttpHandler = (req, res) => {
    const into = seen;
    const at = into.push(null) - 1;
    const answer = (body: string) => {
      const { method, url, httpVersion, rawHeaders, headers } = req;
      into[at] = JSON.stringify([method, url, httpVersion, rawHeaders, headers, body]);
      respond(req, res, body);
    };
    if (isWhole(req)) {
      plain += 1;
      // Heads repeat in a conversation, and each one comes again by itself in others.
      req.keepHead([]);
      answer(req.wholeBody?.toString('latin1') ?? '');
      return;
    }
    buffer(req).then(
      (body) => {
        answer(body.toString('latin1'));
      },
      () => undefined,
    );
  };
  const ours = listen(handler);
  putFastPathBefore(ours, handler);
  const theirs = listen(handler);
  await Promise.all([ours, theirs].map((server) => once(server, 'listening')));

  async function talk(server: Server, sent: readonly string[]): Promise<Heard> {
    seen = [];
    const { socket, received, closed } = connectRaw(server);
    socket.setNoDelay();
    for (const piece of sent) {
      socket.write(piece, 'latin1');
      await new Promise(setImmediate);
    }
    socket.end();
    await closed;
    return {
      seen: seen.filter((request) => request !== null),
      received: received().replaceAll(/^Date: .*$/gm, 'Date: now'),
    };
  }

  return {
    name: 'server',
    plain: () => plain,
    round: async (random) => {
      const sent = conversation(random);
      const [got, expected] = [await talk(ours, sent), await talk(theirs, sent)];
      return agree(got, expected) ? null : { sent, got, expected };
    },
    close: () => {
      for (const server of [ours, theirs]) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

/** How soon a refusal is sent depends on what has been read at once; then only what was understood is compared. */
function agree(one: Heard, other: Heard): boolean {
  const isRefused = [one, other].some(({ received }) => received.includes(REFUSAL));
  return isDeepStrictEqual(one.seen, other.seen) && (isRefused || one.received === other.received);
}

const REFUSAL = 'HTTP/1.1 400 Refused\r\n';

function listen(handler: HttpHandler): Server {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requireHostHeader: false }, handler);
  Object.assign(server, { httpAllowHalfOpen: true });
  const refuse = (socket: Duplex) => {
    if (socket.writable) socket.end(`${REFUSAL}Connection: close\r\n\r\n`);
    else socket.destroy();
  };
  server.on('clientError', (_error, socket) => {
    refuse(socket);
  });
  server.on('connect', (_req, socket) => {
    refuse(socket);
  });
  return server.listen(0, '127.0.0.1');
}

function putFastPathBefore(server: Server, handler: HttpHandler): void {
  const [serveByNode] = server.listeners('connection') as ((socket: Socket) => void)[];
  if (serveByNode === undefined) throw new Error('the HTTP server has no listener of connections');
  server.off('connection', serveByNode);
  openFastPath(server, {
    limits: LIMITS,
    handlerOf: ({ url }) => (url.startsWith('/other') ? null : handler),
    recentHeads: createRequestHeads(),
    onRequest: () => undefined,
    headersTimeoutMs: 60_000,
    keepAliveTimeoutMs: KEEP_ALIVE_MS,
    serveByNode: (socket) => {
      serveByNode.call(server, socket);
    },
  });
}

/** Answers as the target asks. */
function respond({ url = '' }: HttpRequest, res: HttpResponse, body: string): void {
  const text = `[${String(body.length)}]`;
  if (url.startsWith('/empty')) {
    res.writeHead(204);
    res.end();
  } else if (url.startsWith('/chunks')) {
    res.writeHead(200, ['X-Way', 'chunks']);
    res.write(Buffer.from(text));
    // At once, node:http would make one chunk of both.
    setImmediate(() => {
      res.end(Buffer.from(body, 'latin1'));
    });
  } else if (url.startsWith('/set')) {
    res.setHeader('x-set', '1');
    res.setHeader('X-Set', '2');
    res.writeHead(404, { 'content-length': text.length, 'x-object': 'a' });
    res.end(text, 'latin1');
  } else if (url.startsWith('/late')) {
    setImmediate(() => {
      res.writeHead(200, ['Content-Length', String(text.length)]);
      res.end(Buffer.from(text));
    });
  } else {
    res.writeHead(200, ['Content-Type', 'text/plain', 'Content-Length', String(text.length)]);
    res.end(text, 'latin1');
  }
}

/** One to four requests, of which some repeat the head before them: pipelined, or each in pieces of its own. */
function conversation(random: Random): string[] {
  const { below, oneIn } = random;
  const requests: string[] = [];
  for (let left = 1 + below(4); left > 0; left -= 1) {
    const last = requests.at(-1);
    requests.push(last !== undefined && oneIn(2) ? last : request(random));
  }
  if (!oneIn(3)) return requests.flatMap((text) => pieces(oneIn(12) ? damaged(text, random) : text, random));
  const text = requests.join('');
  return pieces(oneIn(6) ? damaged(text, random) : text, random);
}

const TARGETS = [
  '/',
  '/empty',
  '/chunks?a=b',
  '/set',
  '/late',
  '/other',
  '/a"b',
  '/\xe4',
  '//',
  '/#x',
  '*',
  'http://a/',
] as const;
const FIELDS = [
  ...(['X-A: b', 'x-latin: \xe4', 'Accept: */*, text/plain', 'X-Tab:\ta\tb', 'Cookie: a=b; c=d'] as const),
  ...([
    'X-Empty:',
    'X-End: a ',
    'X-A: again',
    'Connection: keep-alive',
    'Connection: close',
    'X Space: a',
  ] as const),
  ...([
    'Content-Length: 4',
    'Expect: 100-continue',
    ' folded',
    'X-Nul: \0',
    '__proto__: a',
    'Keep-Alive: 5',
  ] as const),
] as const;

/** Mostly plain; each part may be another one. */
function request(random: Random): string {
  const { below, oneOf, oneIn } = random;
  const method = oneIn(10)
    ? oneOf(['PUT', 'HEAD', 'OPTIONS', 'post', 'CONNECT'])
    : oneOf(['POST', 'POST', 'GET']);
  const target = oneIn(3) ? oneOf(TARGETS) : oneOf(['/', '/late', '/chunks', '/set', '/empty']);
  const version = oneIn(20) ? oneOf(['HTTP/1.0', 'HTTP/2.0', 'HTTP/1.2', 'http/1.1']) : 'HTTP/1.1';
  const fields = [oneIn(20) ? oneOf(['Host: a b', 'Host:', 'X-No: host']) : 'Host: a.example:80'];
  for (let left = below(4); left > 0; left -= 1)
    fields.push(oneOf(oneIn(4) ? FIELDS : ['X-B: c', 'X-C: d e']));
  const body = method === 'GET' && !oneIn(20) ? null : bodyText(random);
  const framed = body === null ? '' : frame(fields, body, random);
  return `${[`${method} ${target} ${version}`, ...fields].join('\r\n')}\r\n\r\n${framed}`;
}

function bodyText({ below, oneOf, oneIn }: Random): string {
  if (oneIn(10)) return 'GET /smuggled HTTP/1.1\r\nHost: b\r\n\r\n';
  return oneOf(['', 'a', '\r\n', '\0\xff']).repeat(below(oneIn(20) ? 70_000 : 30));
}

/** Adds the fields that say how long a body is, and returns the body as it is sent. */
function frame(fields: string[], body: string, random: Random): string {
  const { oneOf, oneIn } = random;
  if (!oneIn(4)) {
    const length = oneIn(20)
      ? oneOf([`+${String(body.length)}`, `0${String(body.length)}`, '', '5'])
      : String(body.length);
    fields.push(`${oneOf(['Content-Length', 'content-length'])}: ${length}`);
    return body;
  }
  fields.push(oneIn(8) ? 'Transfer-Encoding: gzip, chunked' : 'Transfer-Encoding: chunked');
  if (oneIn(20)) fields.push(`Content-Length: ${String(body.length)}`);
  return chunked(body, random);
}

function chunked(body: string, { below, oneOf, oneIn }: Random): string {
  let text = '';
  for (let at = 0; at < body.length;) {
    const size = 1 + below(body.length - at);
    const extension = oneIn(8) ? oneOf([';a', ';a=b', ' ']) : '';
    text += `${size.toString(16)}${extension}\r\n${body.slice(at, at + size)}\r\n`;
    at += size;
  }
  return `${text}0\r\n${oneIn(8) ? 'X-Trailer: a\r\n' : ''}\r\n`;
}
