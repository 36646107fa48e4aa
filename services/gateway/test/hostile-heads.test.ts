import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startGateway } from './suite/gateway.ts';
import type { GatewayUnderTest } from './suite/gateway.ts';
import { sendRaw } from './suite/http-client.ts';
import { startRecordingStandIn } from './suite/recording-stand-in.ts';
import type { RecordingStandIn, Seen } from './suite/recording-stand-in.ts';
import { watchUpstream } from './suite/upstreams/watch-upstream.ts';
import type { UpstreamSeen } from './suite/upstreams/watch-upstream.ts';

/** Each request hides another one that two servers in a row could delimit differently (request smuggling). */
let gateway: GatewayUnderTest;
let standIn: RecordingStandIn;
const seenByStandIn: Seen[] = [];
let upstreamSeen: UpstreamSeen[] = [];

beforeAll(async () => {
  standIn = await startRecordingStandIn('stand-in', seenByStandIn);
  gateway = await startGateway({ publicUrls: { auth: standIn.url, account: standIn.url } });
});

beforeEach(() => {
  seenByStandIn.length = 0;
  upstreamSeen = watchUpstream(gateway);
});

afterAll(async () => {
  await gateway.stop();
  await standIn.goAway();
});

const HIDDEN = 'GET /user/hidden HTTP/1.1\r\nHost: a\r\n\r\n';

/** Fields after Host and Authorization, and the bytes after the head. */
const HOSTILE: [name: string, fields: string, rest: string][] = [
  [
    'Transfer-Encoding and Content-Length',
    'Transfer-Encoding: chunked\r\nContent-Length: 4',
    `0\r\n\r\n${HIDDEN}`,
  ],
  [
    'Content-Length and Transfer-Encoding',
    'Content-Length: 4\r\nTransfer-Encoding: chunked',
    `0\r\n\r\n${HIDDEN}`,
  ],
  [
    'Transfer-Encoding twice',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    `0\r\n\r\n${HIDDEN}`,
  ],
  ['a coding before chunked', 'Transfer-Encoding: gzip, chunked', `0\r\n\r\n${HIDDEN}`],
  ['a coding that is nearly chunked', 'Transfer-Encoding: xchunked', `0\r\n\r\n${HIDDEN}`],
  ['chunked not last', 'Transfer-Encoding: chunked, identity', `0\r\n\r\n${HIDDEN}`],
  ['Content-Length twice', 'Content-Length: 0\r\nContent-Length: 40', HIDDEN],
  ['Content-Length as a list', 'Content-Length: 0, 40', HIDDEN],
  ['Content-Length with a sign', 'Content-Length: +0', HIDDEN],
  ['white space before a colon', 'Content-Length : 40', HIDDEN],
  ['obs-fold', 'X: a\r\n Content-Length: 40', HIDDEN],
  ['obs-fold of a framing field', 'Transfer-Encoding:\r\n chunked', `0\r\n\r\n${HIDDEN}`],
  ['a bare LF between fields', 'X: a\nContent-Length: 40', HIDDEN],
  ['a bare CR within a field', 'X: a\rContent-Length: 40', HIDDEN],
  ['two Host fields', 'Host: b\r\nContent-Length: 0', HIDDEN],
];

describe.each(['/graphql', '/user/x', '/oauth2/token'])('at %s', (path) => {
  test.each(HOSTILE)(
    '%s: 400 in words, nothing goes on, the connection ends',
    async (_name, fields, rest) => {
      const token = gateway.auth.issue();
      const answer = await sendRaw(
        gateway.process.publicUrl,
        `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${fields}\r\n\r\n${rest}`,
      );
      const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
      expect(head).toMatch(/^HTTP\/1\.1 400 /);
      expect(head).toMatch(/^content-type: application\/(?:problem\+)?json/im);
      const document = JSON.parse(body) as { code?: string; errors?: { extensions: { code: string } }[] };
      expect(document.code ?? document.errors?.[0]?.extensions.code).toBe('invalid_request');
      expect(upstreamSeen).toEqual([]);
      expect(seenByStandIn.filter(({ url }) => url === path)).toEqual([]);
    },
  );

  test.each([
    ['absolute form of another scheme', `ftp://a${path}`],
    ['absolute form without a host', `http://${path}`],
    ['absolute form with a user', `http://user@a${path}`],
    ['absolute form with a backslash', `http:\\\\a${path}`],
    ['authority form', 'a:443'],
    ['asterisk form', '*'],
  ])('a target in %s: 400, and nothing goes on', async (_name, target) => {
    const answer = await sendRaw(
      gateway.process.publicUrl,
      `POST ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('invalid_request');
    expect(upstreamSeen).toEqual([]);
    expect(seenByStandIn).toEqual([]);
  });
});

describe('a target in absolute form', () => {
  /** The head of the answer to a request with it. */
  async function send(target: string, fields: string): Promise<string> {
    const bytes = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${fields}\r\n\r\n`;
    return (await sendRaw(gateway.process.publicUrl, bytes)).split('\r\n\r\n', 1)[0] ?? '';
  }
  const bearer = () => `Authorization: Bearer ${gateway.auth.issue()}`;

  test.each([
    'http://api.example:8080/graphql?query=%7Bx%7D',
    'HTTPS://api.example:8080/graphql?query=%7Bx%7D',
  ])('%s reaches the upstream as the path would; its host wins over Host', async (target) => {
    expect(await send(target, bearer())).toMatch(/^HTTP\/1\.1 200 /);
    expect(upstreamSeen[0]).toMatchObject({ url: '/data/graphql?query=%7Bx%7D', method: 'GET' });
    expect(upstreamSeen[0]?.headers['x-forwarded-host']).toBe('api.example:8080');
  });

  test('reaches a plain route', async () => {
    expect(await send('http://[2001:db8::1]/user/x', bearer())).toMatch(/^HTTP\/1\.1 200 /);
    expect(seenByStandIn[0]).toMatchObject({ url: '/user/x' });
    expect(seenByStandIn[0]?.headers['x-forwarded-host']).toBe('[2001:db8::1]');
  });

  test.each([
    'http://a',
    'http://a?x',
    'http://a//user/x',
    'http://a/user/../graphql',
    'http://a/%2e/user/x',
  ])('%s names nothing: 404', async (target) => {
    expect(await send(target, bearer())).toMatch(/^HTTP\/1\.1 404 /);
    expect([...upstreamSeen, ...seenByStandIn]).toEqual([]);
  });

  test('opens a WebSocket', async () => {
    const key = Buffer.alloc(16, 'k').toString('base64');
    const upgrade = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}`;
    const head = await sendRaw(
      gateway.process.publicUrl,
      `GET http://a/graphql HTTP/1.1\r\nHost: a\r\n${upgrade}\r\nSec-WebSocket-Protocol: graphql-ws\r\n\r\n`,
    );
    expect(head).toMatch(/^HTTP\/1\.1 101 /);
  });
});

describe.each(['/graphql', '/user/x', '/oauth2/token'])('a Host that names no host, at %s: 400', (path) => {
  test.each(['', 'a b', 'a/b', 'user@a', 'a:b', 'a:1:2', 'a, b', '[::1', '\u00e4', 'a?', '<a>'])(
    '"%s"',
    async (host) => {
      const answer = await sendRaw(
        gateway.process.publicUrl,
        Buffer.from(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`),
      );
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('"code":"invalid_request"');
      expect([...upstreamSeen, ...seenByStandIn]).toEqual([]);
    },
  );
});

describe('heads over a limit', () => {
  test.each(['/graphql', '/user/x'])('a long target at %s: 414', async (path) => {
    const answer = await sendRaw(
      gateway.process.publicUrl,
      `GET ${path}?${'q'.repeat(8_192)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 414 URI Too Long\r\n/);
    expect(answer).toContain('"code":"uri_too_long"');
  });

  test.each([
    ['too many fields', 'X: y\r\n'.repeat(100)],
    ['too large a field', `X: ${'y'.repeat(17_000)}\r\n`],
  ])('%s: 431', async (_name, fields) => {
    const answer = await sendRaw(
      gateway.process.publicUrl,
      `POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n${fields}\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
    expect(answer).toContain('"code":"header_fields_too_large"');
    expect(upstreamSeen).toEqual([]);
  });
});
