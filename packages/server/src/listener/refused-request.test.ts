import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connectRaw, exchangeRaw } from '@tollgate/plain-http/raw-client';
import { waitFor } from '@tollgate/stack/wait-for';
import { createListener } from './listener.ts';
import type { Listener } from './listener.ts';

const limits = { maxUrlBytes: 1_000, maxHeaderBytes: 4_096, maxHeaderCount: 20 };

let listener: Listener;
let handled: string[];
let handle: (req: IncomingMessage, res: ServerResponse) => void;

beforeEach(async () => {
  handled = [];
  handle = (req, res) => {
    req.resume();
    res.end('ok');
  };
  listener = createListener(
    (req, res) => {
      handled.push(`${req.method ?? ''} ${req.url ?? ''}`);
      handle(req, res);
    },
    { name: 'public', host: '127.0.0.1', port: 0, setting: 'PUBLIC_PORT', limits },
  );
  await listener.listen();
});

afterEach(() => listener.close({ idleGraceMs: 0, cutAfterMs: 1_000 }));

/** All that comes back until the server closes the connection. */
function answerTo(bytes: string | Buffer): Promise<string> {
  return exchangeRaw(listener.server, bytes);
}

function expectRefusal(answer: string, status: number, code: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} \\w`));
  expect(head).toMatch(/^content-type: application\/problem\+json$/im);
  expect(head).toMatch(/^cache-control: no-store$/im);
  expect(head).toMatch(/^connection: close$/im);
  expect(Number(/^content-length: (\d+)$/im.exec(head)?.[1])).toBe(body.length);
  const requestId = /^x-request-id: ([0-9a-f]{32})$/im.exec(head)?.[1];
  expect(JSON.parse(body)).toMatchObject({
    type: `urn:tollgate:problem:${code}`,
    status,
    code,
    request_id: requestId,
    errors: [{ extensions: { code, request_id: requestId } }],
    error: 'invalid_request',
    error_description: expect.stringMatching(/./),
  });
}

const HEAD = 'POST /x HTTP/1.1\r\nHost: a\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n`;

test.each([
  [
    'HTTP/1.1',
    'POST http://b:8080/x?y HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
  ],
  ['HTTP/1.0, without Host', 'POST HTTP://b:8080/x?y HTTP/1.0\r\nContent-Length: 0\r\n\r\n'],
])('an absolute target is a path, and its host the request’s own (%s)', async (_version, bytes) => {
  handle = (req, res) => {
    req.resume();
    res.end(`${req.headers.host ?? ''} ${req.rawHeaders.join(' ')}`);
  };
  const answer = await answerTo(bytes);
  expect(handled).toEqual(['POST /x?y']);
  expect(answer).toMatch(/b:8080 .*Host b:8080/);
  expect(answer).not.toContain('Host a');
});

describe('what two servers could read differently is refused, in words, and the connection is closed', () => {
  test.each([
    ['bare LF after the request line', 'POST /x HTTP/1.1\nHost: a\nContent-Length: 0\n\n'],
    ['bare LF after a field', 'POST /x HTTP/1.1\r\nHost: a\nX: b\r\nContent-Length: 0\r\n\r\n'],
    ['bare CR within a field', `${HEAD}X: a\rContent-Length: 5\r\n\r\n`],
    ['obs-fold', `${HEAD}X: a\r\n b\r\n\r\n`],
    ['obs-fold before the value', `${HEAD}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`],
    ['Content-Length beside Transfer-Encoding', `${CHUNKED}Content-Length: 4\r\n\r\n0\r\n\r\n`],
    [
      'Transfer-Encoding beside Content-Length',
      `${HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths that differ', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ['two lengths that are equal', `${HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
    ['a list of lengths', `${HEAD}Content-Length: 2, 2\r\n\r\n{}`],
    ['a signed length', `${HEAD}Content-Length: +2\r\n\r\n{}`],
    ['white space before the colon', `${HEAD}Content-Length : 2\r\n\r\n{}`],
    ['a NUL in a value', `${HEAD}X: a\0b\r\n\r\n`],
    ['chunked, but not last', `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['two Hosts', `${HEAD}Host: a\r\nContent-Length: 0\r\n\r\n`],
    ['an invalid Host', 'POST /x HTTP/1.1\r\nHost: a b\r\nContent-Length: 0\r\n\r\n'],
    ['an invalid Host in HTTP/1.0', 'POST /x HTTP/1.0\r\nHost: a@b\r\nContent-Length: 0\r\n\r\n'],
    ['an empty Host', 'POST /x HTTP/1.1\r\nHost:\r\nContent-Length: 0\r\n\r\n'],
    ['a target of another scheme', 'POST ftp://a/x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'],
    ['an absolute target without Host', 'POST http://a/x HTTP/1.1\r\nContent-Length: 0\r\n\r\n'],
    ['no Host', 'POST /x HTTP/1.1\r\nContent-Length: 0\r\n\r\n'],
    ['HTTP/0.9', 'GET /x\r\n\r\n'],
    ['what is no HTTP version', 'GET /x HTTP/1.x\r\nHost: a\r\n\r\n'],
    ['TLS', Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 1, 2, 3, 4, 5])],
  ])('%s', async (_name, bytes) => {
    expectRefusal(await answerTo(bytes), 400, 'invalid_request');
    expect(handled).toEqual([]);
  });

  test.each([
    ['a chunk size in another base', `${CHUNKED}\r\n0x2\r\n{}\r\n0\r\n\r\n`],
    ['a chunk size that ends with a bare LF', `${CHUNKED}\r\n2\n{}\n0\n\n`],
    ['a chunk extension that ends with a bare LF', `${CHUNKED}\r\n2;a\n{}\r\n0\r\n\r\n`],
  ])('%s, while the handler waits for the body', async (_name, bytes) => {
    handle = () => undefined;
    expectRefusal(await answerTo(bytes), 400, 'invalid_request');
  });

  test('CONNECT', async () => {
    expectRefusal(await answerTo('CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n'), 405, 'method_not_allowed');
  });
});

describe('what changes how the next bytes are read ends its connection', () => {
  const BODY = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
  const LENGTH = `Content-Length: ${String(BODY.length)}\r\n`;
  const NEXT = `POST /next HTTP/1.1\r\nHost: a\r\n${LENGTH}\r\n`;
  const UPGRADE = 'Host: a\r\nConnection: upgrade\r\nUpgrade: foo\r\n';

  test.each([
    ['an upgrade that isn’t taken', `GET /first HTTP/1.1\r\n${UPGRADE}\r\n`],
    ['one with a body', `POST /first HTTP/1.1\r\n${UPGRADE}${LENGTH}\r\n${BODY}`],
    [
      'one with chunks',
      `POST /first HTTP/1.1\r\n${UPGRADE}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    [
      'chunks in HTTP/1.0',
      'POST /first HTTP/1.0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    ],
  ])('%s', async (_name, first) => {
    // In one piece, and where the next one's body comes later: a parser that skips its head reads it as a request.
    for (const pieces of [[first + NEXT + BODY], [first + NEXT, BODY], [first, NEXT, BODY]]) {
      handled = [];
      const { socket, received, closed } = connectRaw(listener.server);
      socket.setNoDelay();
      for (const piece of pieces) {
        socket.write(piece);
        await waitFor(() => received() !== '');
      }
      await closed;
      expect(handled.filter((line) => !line.endsWith('/first'))).toEqual([]);
      expect(received()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/);
      expect(received().match(/HTTP\/1\.1/g)).toHaveLength(1);
    }
  });
});

test.each(['1.2', '2.0', '3.0'])('HTTP/%s is 505', async (version) => {
  const answer = await answerTo(`GET / HTTP/${version}\r\nHost: a\r\n\r\n`);
  expectRefusal(answer, 505, 'http_version_not_supported');
  expect(handled).toEqual([]);
});

test('HTTP/2 by prior knowledge is 505', async () => {
  expectRefusal(await answerTo('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), 505, 'http_version_not_supported');
});

describe('heads over a limit', () => {
  test('a long target: 414', async () => {
    const target = (bytes: number) =>
      `GET /${'a'.repeat(bytes - 1)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    expectRefusal(await answerTo(target(1_001)), 414, 'uri_too_long');
    expect(handled).toEqual([]);
    expect(await answerTo(target(1_000))).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('many bytes: 431, also where they come in pieces', async () => {
    const long = `${HEAD}X: ${'a'.repeat(4_096)}\r\n\r\n`;
    expectRefusal(await answerTo(long), 431, 'header_fields_too_large');
    const { socket, received, closed } = connectRaw(listener.server);
    for (const piece of long.match(/[^]{1,500}/g) ?? []) if (socket.writable) socket.write(piece);
    await closed;
    expectRefusal(received(), 431, 'header_fields_too_large');
    expect(handled).toEqual([]);
  });

  test('many fields: 431', async () => {
    const fields = (count: number) =>
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'X: y\r\n'.repeat(count - 2)}\r\n`;
    expectRefusal(await answerTo(fields(21)), 431, 'header_fields_too_large');
    expect(handled).toEqual([]);
    expect(await answerTo(fields(20))).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('an answer under way is never written into', () => {
  test('what is wrong behind a sound request does not take its answer', async () => {
    let finish: () => void = () => undefined;
    handle = (_req, res) => {
      finish = () => res.end('the answer');
    };
    const { socket, received, closed } = connectRaw(listener.server);
    socket.write('GET /first HTTP/1.1\r\nHost: a\r\n\r\nno HTTP at all\r\n\r\n');
    await waitFor(() => handled.length === 1);
    finish();
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n[^]*the answer/);
    expectRefusal(received().slice(received().lastIndexOf('HTTP/1.1')), 400, 'invalid_request');
    expect(handled).toEqual(['GET /first']);
  });

  test('a body that turns bad within an answer cuts it by a reset', async () => {
    handle = (_req, res) => {
      res.writeHead(200, { 'content-length': 100 }).write('begun');
    };
    const { socket, received, closed } = connectRaw(listener.server);
    socket.write(`${CHUNKED}\r\n2\r\n{}\r\n`);
    await waitFor(() => received().endsWith('begun'));
    socket.write('no chunk\r\n');
    expect(await closed).toBe('ECONNRESET');
    expect(received().endsWith('begun')).toBe(true);
  });
});
