import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startGateway } from './suite/gateway.ts';
import type { GatewayUnderTest } from './suite/gateway.ts';
import { sendRaw } from './suite/http-client.ts';
import { startRecordingPeer } from './suite/recording-peer.ts';
import type { RecordingPeer, Seen } from './suite/recording-peer.ts';
import { watchUpstream } from './suite/watch-upstream.ts';
import type { UpstreamSeen } from './suite/watch-upstream.ts';

/** Requests that two servers in a row could cut differently, each with another one hidden in it. */
let gateway: GatewayUnderTest;
let peer: RecordingPeer;
const peerSeen: Seen[] = [];
let upstreamSeen: UpstreamSeen[] = [];

beforeAll(async () => {
  peer = await startRecordingPeer('peer', peerSeen);
  gateway = await startGateway({ publicUrls: { auth: peer.url, account: peer.url } });
});

beforeEach(() => {
  peerSeen.length = 0;
  upstreamSeen = watchUpstream(gateway);
});

afterAll(async () => {
  await gateway.stop();
  await peer.goAway();
});

const HIDDEN = 'GET /user/hidden HTTP/1.1\r\nHost: a\r\n\r\n';

/** A head's fields after Host and Authorization, and what follows the head. */
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
        `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${fields}\r\n\r\n${rest}`,
      );
      const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
      expect(head).toMatch(/^HTTP\/1\.1 400 /);
      expect(head).toMatch(/^content-type: application\/(?:problem\+)?json/im);
      const document = JSON.parse(body) as { code?: string; errors?: { extensions: { code: string } }[] };
      expect(document.code ?? document.errors?.[0]?.extensions.code).toBe('invalid_request');
      expect(upstreamSeen).toEqual([]);
      expect(peerSeen.filter(({ url }) => url === path)).toEqual([]);
    },
  );

  test.each([
    ['absolute form', `http://a${path}`],
    ['absolute form of another host', `http://evil.example${path}`],
    ['another scheme', `ftp://a${path}`],
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
    expect(peerSeen).toEqual([]);
  });
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
