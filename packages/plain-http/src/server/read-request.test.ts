import { describe, expect, test } from '@jest/globals';
import { createReadBytes } from './read-request.ts';
import type { ReadRequest, ReadRequestHead } from './read-request.ts';
import { createRecentHeads } from '../message/recent-heads.ts';

const limits = { maxUrlBytes: 100, maxHeaderBytes: 1_000, maxHeaderCount: 10, maxBodyBytes: 50 };

const read = (text: string) => createReadBytes(limits)(Buffer.from(text, 'latin1'));
/** One that is read. */
function whole(text: string): ReadRequest {
  const request = read(text);
  if (request === null || request === 'incomplete') throw new Error(`not a plain request: ${text}`);
  return request;
}

const POST = 'POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n';

describe('a plain request', () => {
  test('is read with its fields as received and its body', () => {
    const { read: of, body } = whole(
      `${POST}X-Any:\t one \t two\r\nx-latin: \xe4\r\nConnection: Keep-Alive\r\n\r\nbody`,
    );
    expect({ head: of.head, body }).toEqual({
      head: {
        method: 'POST',
        url: '/graphql',
        rawHeaders: [
          'Host',
          'a',
          'Content-Length',
          '4',
          'X-Any',
          'one \t two',
          'x-latin',
          '\xe4',
          'Connection',
          'Keep-Alive',
        ],
      },
      body: Buffer.from('body'),
    });
    expect(read('GET /?a="b" HTTP/1.1\r\nhost: a.example:4000\r\n\r\n')).toMatchObject({
      read: { head: { url: '/?a="b"' } },
      body: null,
    });
    expect(read(`${POST.replace('4', '0')}\r\n`)).toMatchObject({ body: null });
  });

  test('that repeats the head of the one before is read anew, with its own body', () => {
    const readBytes = createReadBytes(limits);
    const bodyOf = (text: string) => {
      const request = readBytes(Buffer.from(text));
      return request === null || request === 'incomplete' ? request : String(request.body);
    };
    expect(bodyOf(`${POST}\r\nbody`)).toBe('body');
    expect(bodyOf(`${POST}\r\nnext`)).toBe('next');
    expect(bodyOf(`${POST}\r\nnex`)).toBe('incomplete');
    expect(bodyOf(`${POST}\r\nnext!`)).toBeNull();
    expect(bodyOf(`${POST}X: y\r\n\r\nlast`)).toBe('last');
  });

  test('is incomplete, wherever it is cut', () => {
    const whole = `${POST}\r\nbody`;
    for (let length = 1; length < whole.length; length += 1)
      expect(read(whole.slice(0, length))).toBe('incomplete');
  });
});

test.each([
  ['another method', POST.replace('POST', 'PUT')],
  ['a target in absolute form', POST.replace('/graphql', 'http://a/graphql')],
  ['a fragment', POST.replace('/graphql', '/graphql#x')],
  ['HTTP/1.0', POST.replace('1.1', '1.0')],
  ['no Host', POST.replace('Host: a\r\n', '')],
  ['two Hosts', `${POST}host: b\r\n`],
  ['a Host that is none', POST.replace('Host: a', 'Host: a/b')],
  ['a repeated field', `${POST}X-A: 1\r\nx-a: 1\r\n`],
  ['two lengths', `${POST}Content-Length: 4\r\n`],
  ['a length that is no plain number', POST.replace(': 4', ': +4')],
  ['a length with a leading zero', POST.replace(': 4', ': 04')],
  ['no length', POST.replace('Content-Length: 4\r\n', '')],
  ['a transfer coding', `${POST}Transfer-Encoding: chunked\r\n`],
  ['an expectation', `${POST}Expect: 100-continue\r\n`],
  ['a name that can’t be assigned', `${POST}__proto__: a\r\n`],
  ['an upgrade', `${POST}Connection: Upgrade\r\nUpgrade: websocket\r\n`],
  ['a connection that is to close', `${POST}Connection: close\r\n`],
  ['a name with a space', `${POST}X-A : 1\r\n`],
  ['a folded line', `${POST}X-A: 1\r\n 2\r\n`],
  ['an empty value', `${POST}X-A:\r\n`],
  ['a trailing space', `${POST}X-A: 1 \r\n`],
  ['a bare line feed', `${POST}X-A: 1\n\r\n`],
  ['a bare carriage return', `${POST}X-A: 1\rX-B: 2\r\n`],
  ['a NUL', `${POST}X-A: \0\r\n`],
  [
    'too many fields',
    `${POST}${Array.from({ length: 9 }, (_, index) => `X-${String(index)}: 1\r\n`).join('')}`,
  ],
  ['too long a target', POST.replace('/graphql', `/${'x'.repeat(100)}`)],
  ['too long a head', `${POST}X-A: ${'x'.repeat(1_000)}\r\n`],
])('%s is for node:http', (_what, head) => {
  expect(read(`${head}\r\nbody`)).toBeNull();
});

test.each([
  ['too long a body', POST.replace(': 4', ': 51')],
  ['a body of a GET', POST.replace('POST', 'GET')],
])('%s is for node:http, however little of it has arrived', (_what, head) => {
  expect(read(`${head}\r\n`)).toBeNull();
});

test('bytes that cannot become a request are for node:http at once', () => {
  for (const start of ['\x16\x03\x01', 'PUT / HTTP/1.1', 'GET http://a/', '\r\nGET / HTTP/1.1'])
    expect(read(start)).toBeNull();
  expect(read(`GET /${'x'.repeat(1_000)}`)).toBeNull();
});

test('a connection of new heads looks at what is kept once in 16 requests, and after a kept one at each', () => {
  const heads = createRecentHeads<ReadRequestHead>();
  let looks = 0;
  const readBytes = createReadBytes(limits, {
    ...heads,
    find: (text) => {
      looks += 1;
      return heads.find(text);
    },
  });
  const send = (target: string) => readBytes(Buffer.from(`GET /${target} HTTP/1.1\r\nHost: a\r\n\r\n`));
  const looksOf = (from: number, count: number) => {
    const before = looks;
    for (let index = from; index < from + count; index += 1) send(`new/${String(index)}`);
    return looks - before;
  };
  expect(looksOf(0, 32)).toBe(32);
  expect(looksOf(32, 160)).toBe(10);

  const kept = createReadBytes(limits)(Buffer.from('GET /kept HTTP/1.1\r\nHost: a\r\n\r\n'));
  if (kept === null || kept === 'incomplete') throw new Error('not a plain request');
  heads.keep(kept.read.text, kept.read, []);
  // The next look is due.
  expect(send('kept')).toMatchObject({ read: { head: { url: '/kept' } } });
  expect(looksOf(1_000, 32)).toBe(32);
});
