import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { call, sendRaw } from '../../test/suite/http-client.ts';
import { startRecordingStandIn } from '../../test/suite/recording-stand-in.ts';
import type { RecordingStandIn, Seen } from '../../test/suite/recording-stand-in.ts';

let gateway: GatewayUnderTest;
let auth: RecordingStandIn;
let account: RecordingStandIn;
let url: string;
const seen: Seen[] = [];

beforeAll(async () => {
  auth = await startRecordingStandIn('auth', seen);
  account = await startRecordingStandIn('account', seen);
  gateway = await startGateway({
    publicUrls: { auth: auth.url, account: account.url },
  });
  url = gateway.process.publicUrl;
});

beforeEach(() => {
  seen.length = 0;
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([auth.goAway(), account.goAway()]);
});

describe('a body cannot smuggle a second request past the gateway (CVE-2026-29057)', () => {
  const smuggled = 'GET /private/clients/x HTTP/1.1\r\nHost: a\r\n\r\n';
  const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;

  const methods = ['DELETE', 'OPTIONS', 'GET', 'POST', 'PUT', 'PATCH', 'PROPFIND'];
  const connections = ['close', 'close, transfer-encoding', 'keep-alive, Transfer-Encoding, content-length'];
  test.each(methods.flatMap((method) => connections.map((connection) => [method, connection] as const)))(
    'chunked %s with Connection: %s',
    async (method, connection) => {
      for (const path of ['/oauth2/token', '/user/x', '/api/usage']) {
        await sendRaw(
          url,
          `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
          200,
        );
      }
      // A request that follows on the same peer connection would meet what was smuggled.
      await call(`${url}/oauth2/after`, { method: 'GET' });
      expect(seen.map(({ method: m, url: u }) => `${m} ${u}`)).toEqual([
        `${method} /oauth2/token`,
        `${method} /user/x`,
        `${method} /api/usage`,
        'GET /oauth2/after',
      ]);
      expect(seen[0]?.body).toBe(smuggled);
    },
  );

  test('the peer gets bytes with a framing, read off the wire', async () => {
    const received: string[] = [];
    const wire = createServer((socket) => {
      socket.on('data', (bytes) => {
        received.push(bytes.toString('latin1'));
        if (received.join('').includes(smuggled)) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
    });
    const { port } = new URL(auth.url);
    await auth.goAway();
    wire.listen(Number(port), '127.0.0.1');
    await once(wire, 'listening');
    await sendRaw(
      url,
      `DELETE /oauth2/x HTTP/1.1\r\nHost: a\r\nConnection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
    );
    wire.close();
    await once(wire, 'close');
    await auth.comeBack();
    const head = received.join('').slice(0, -smuggled.length);
    expect(head).toMatch(new RegExp(`\\r\\ncontent-length: ${String(smuggled.length)}\\r\\n\\r\\n$`, 'i'));
    expect(head).not.toMatch(/transfer-encoding/i);
    expect(received.join('').endsWith(smuggled)).toBe(true);
  });

  test('on the data path as well', async () => {
    const urls: string[] = [];
    gateway.upstream((req, res) => {
      urls.push(`${req.method ?? ''} ${req.url ?? ''}`);
      req.resume().once('end', () => res.end('{}'));
    });
    const token = gateway.auth.issue();
    const document = JSON.stringify({ variables: smuggled });
    const body = `${document.length.toString(16)}\r\n${document}\r\n0\r\n\r\n`;
    for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) {
      await sendRaw(
        url,
        `${method} /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: application/json\r\nConnection: close, transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
      );
    }
    await gateway.query();
    expect(urls).toEqual(['POST /data/graphql', 'POST /data/graphql']);
  });
});
