import type { Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { Client } from 'undici';
import { createHttpPool } from '../src/client/http-pool.ts';
import type { PoolRequest } from '../src/client/http-pool.ts';
import { createReadHead } from '../src/client/plain/read-response.ts';
import { startRawPeer } from '../test/suite/raw-peer.ts';
import { POOL_OPTIONS, outcomeOf } from '../test/suite/raw-server.ts';
import type { Dispatch } from '../test/suite/raw-server.ts';
import { damaged, pieces } from './random.ts';
import type { Random } from './random.ts';
import type { Rounds } from './rounds.ts';

/** A response in pieces; `ends` closes its connection behind it. */
type Response = { pieces: string[]; ends: boolean };

type Exchange = { request: PoolRequest; response: Response };

/** Exchanges through the pool, compared with those through undici alone. */
export async function openClientRounds(): Promise<Rounds> {
  let plain = 0;
  let response: Response = { pieces: [], ends: true };
  let requests: string[] = [];
  const { origin, connections, close } = await startRawPeer((socket) => {
    let received = '';
    socket
      .setNoDelay(true)
      .setEncoding('latin1')
      .on('data', (text: string) => {
        received += text;
        if (!isWhole(received)) return;
        requests.push(received);
        received = '';
        void send(socket, response);
      });
  });

  async function carryOut(exchanges: readonly Exchange[], dispatch: Dispatch) {
    requests = [];
    const outcomes: unknown[] = [];
    for (const exchange of exchanges) {
      ({ response } = exchange);
      const outcome = await outcomeOf(dispatch, exchange.request);
      outcomes.push('error' in outcome ? 'error' : outcome);
      // undici may send the next request on a connection whose end is on its way; the pool looks first.
      if (response.ends || 'error' in outcome) await Promise.all([...connections].map(closed));
    }
    return { outcomes, requests };
  }

  return {
    name: 'client',
    plain: () => plain,
    round: async (random) => {
      const exchanges = Array.from({ length: 1 + random.below(3) }, () => exchangeOf(random));
      const pool = createHttpPool(origin, POOL_OPTIONS);
      const client = new Client(origin, { pipelining: 1, allowH2: false });
      const got = await carryOut(exchanges, pool.dispatch);
      await pool.close();
      const expected = await carryOut(exchanges, ({ method, path, headers, body }, handler) =>
        client.dispatch({ method, path, headers: [...headers], body, blocking: false }, handler),
      );
      await client.destroy();
      plain += exchanges.filter(
        ({
          response: {
            pieces: [...texts],
          },
        }) => isPlain(texts.join('')),
      ).length;
      return isDeepStrictEqual(got, expected) ? null : { sent: exchanges, got, expected };
    },
    close: () => {
      void close();
    },
  };
}

function isPlain(text: string): boolean {
  const read = createReadHead()(Buffer.from(text, 'latin1'));
  return read !== null && read !== 'incomplete';
}

async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise((resolve) => socket.end().once('close', resolve));
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const length = Number(/^content-length: (\d+)$/im.exec(text.slice(0, end))?.[1] ?? 0);
  return text.length >= end + 4 + length;
}

async function send(socket: Socket, { pieces: texts, ends }: Response): Promise<void> {
  for (const text of texts) {
    if (!socket.writable) return;
    socket.write(text, 'latin1');
    await new Promise(setImmediate);
  }
  if (ends) socket.end();
}

function exchangeOf(random: Random): Exchange {
  return { request: requestOf(random), response: responseOf(random) };
}

function requestOf({ below, oneOf, oneIn }: Random): PoolRequest {
  const headers: string[] = [];
  for (let left = below(4); left > 0; left -= 1) {
    headers.push(...oneOf(oneIn(8) ? ODD_FIELDS : USUAL_FIELDS));
  }
  const isPost = oneIn(2);
  const body = isPost ? Buffer.from(oneOf(['', '{}', '\xff\0\r\n']).repeat(below(50)), 'latin1') : null;
  return {
    method: isPost ? 'POST' : 'GET',
    path: oneIn(12) ? oneOf(['/\xe4', '/a b', '*', '/?"']) : '/a?b',
    headers,
    body,
  };
}

type Field = readonly [name: string, value: string];

const USUAL_FIELDS: readonly Field[] = [
  ['x-a', 'b'],
  ['X-Latin', '\xe4'],
  ['accept', '*/*'],
];
const ODD_FIELDS: readonly Field[] = [
  ['x-split', 'a\r\nx-b: c'],
  ['x y', 'z'],
  ['x-empty', ''],
  ['x-nul', '\0'],
  ['expect', '100-continue'],
  ['connection', 'close'],
  ['transfer-encoding', 'chunked'],
  ['content-length', '3'],
  ['upgrade', 'h2c'],
];

const FIELDS = [
  ...([
    'X-A: b',
    'x-a: c',
    'Set-Cookie: a',
    'X-Tab:\ta\tb',
    'X-Latin: \xe4',
    'X-Empty:',
    'X-End: a ',
  ] as const),
  ...([
    'Connection: keep-alive',
    'Connection: close',
    'Keep-Alive: timeout=5',
    'constructor: a',
    ' folded',
  ] as const),
  ...([
    'Trailer: X-T',
    'X Space: a',
    'X-Bare: a\rb',
    'X-Feed: a\nX-B: c',
    '__proto__: a',
    'no colon',
  ] as const),
] as const;
const STATUS_LINES = [
  ...([
    'HTTP/1.1 200',
    'HTTP/1.1 201 Created',
    'HTTP/1.0 200 OK',
    'HTTP/1.1 204 No',
    'HTTP/1.1 304 Not',
  ] as const),
  ...([
    'HTTP/1.1 500 \xe4',
    'HTTP/1.1 103 Early',
    'HTTP/1.1 600 High',
    'HTTP/2 200 OK',
    'HTTP/1.1  200 OK',
  ] as const),
] as const;

function responseOf(random: Random): Response {
  const { below, oneOf, oneIn } = random;
  const status = oneIn(6) ? oneOf(STATUS_LINES) : 'HTTP/1.1 200 OK';
  const fields: string[] = [];
  for (let left = below(4); left > 0; left -= 1)
    fields.push(oneOf(oneIn(4) ? FIELDS : ['X-B: c', 'Etag: "d"']));
  let body = oneOf(['', 'ok', '\r\n\r\n', '\0\xff']).repeat(below(oneIn(20) ? 20_000 : 20));
  if (oneIn(6)) {
    fields.push('Transfer-Encoding: chunked');
    body = `${body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n`;
  } else if (!oneIn(20)) {
    fields.push(`Content-Length: ${String(body.length)}`);
  }
  let text = `${[status, ...fields].join('\r\n')}\r\n\r\n${body}`;
  const isSound = fields.length > 0 && status.startsWith('HTTP/1.1 20') && !oneIn(5);
  if (!isSound && oneIn(2)) text = damaged(text, random);
  if (!isSound && oneIn(8)) text += oneOf(['x', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno']);
  // undici alone ends the connection at an unsolicited 100 Continue, which the pool drops.
  if (/1\.[01] 1\d\d/.test(text)) text = text.replaceAll(/1\.[01] 1\d\d/g, '1.1 201');
  return { pieces: pieces(text, random), ends: true };
}
