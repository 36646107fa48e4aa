import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { answerOk, startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';
import { begin, sendRaw } from '../../../../test/suite/http-client.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway();
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

test('pipelined calls are answered in their order', async () => {
  gateway.upstream((req, res) => {
    const delayMs = req.url?.includes('slow') === true ? 100 : 0;
    setTimeout(() => res.end(`[${req.url ?? ''}]`), delayMs);
  });
  const call = (name: string) =>
    `GET /graphql?${name} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.auth.issue()}\r\n\r\n`;
  const answers = await sendRaw(gateway.graphqlUrl, call('slow') + call('quick') + call('last'));
  expect(answers.match(/\?\w+\]/g)).toEqual(['?slow]', '?quick]', '?last]']);
});

describe('answers arrive as the upstream sent them', () => {
  const document = JSON.stringify({ data: 'x'.repeat(50_000) });

  test.each([
    ['gzip', gzipSync(document)],
    ['br', brotliCompressSync(document)],
  ])('%s, byte for byte', async (encoding, bytes) => {
    let accepted: string | undefined;
    gateway.upstream((req, res) => {
      accepted = String(req.headers['accept-encoding']);
      res.writeHead(200, { 'content-encoding': encoding, 'content-type': 'application/json' }).end(bytes);
    });
    const answer = await gateway.query({ headers: { 'accept-encoding': encoding } });
    expect(accepted).toBe(encoding);
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(answer.body.equals(bytes)).toBe(true);
  });

  test('status, repeated headers and caching headers; not those of the connection or of the gateway', async () => {
    gateway.upstream((_req, res) => {
      res.writeEarlyHints({ link: '</style.css>; rel=preload' });
      res.writeHead(418, [
        'Connection',
        'X-Hop',
        'X-Hop',
        '1',
        'Keep-Alive',
        'timeout=9',
        'Trailer',
        'X-T',
        'Vary',
        'Accept',
        'Vary',
        'Origin',
        'Cache-Control',
        'no-cache',
        'Set-Cookie',
        'session=theirs',
        'X-Points',
        '12',
        'X-Points-Cost',
        '1',
        'X-Request-Id',
        'theirs',
        'X-Billing-Status',
        'gold',
        'Transfer-Encoding',
        'chunked',
      ]);
      res.addTrailers({ 'x-t': 'dropped' });
      res.end('teapot');
    });
    const answer = await gateway.query();
    expect(answer.status).toBe(418);
    expect(answer.body.toString()).toBe('teapot');
    expect(answer.headers).toMatchObject({
      vary: 'Accept, Origin, Authorization',
      'cache-control': 'private, no-cache',
      'x-points-cost': '12',
      'x-billing-status': 'active',
      'x-request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    for (const name of ['x-hop', 'x-points', 'set-cookie', 'trailer']) {
      expect(answer.headers).not.toHaveProperty(name);
    }
  });

  test.each([204, 304])('%i without a body', async (status) => {
    gateway.upstream((_req, res) => {
      res.writeHead(status).end();
    });
    const answer = await gateway.query();
    expect(answer.status).toBe(status);
    expect(answer.body).toHaveLength(0);
  });

  test('a range, and what is conditional, are between the caller and the upstream', async () => {
    const asked = { range: 'bytes=2-5', 'if-none-match': '"a"', 'accept-encoding': 'br;q=0.5, identity' };
    let told: Record<string, unknown> = {};
    gateway.upstream((req, res) => {
      told = req.headers;
      res
        .writeHead(206, { 'content-range': 'bytes 2-5/11', etag: '"b"', 'accept-ranges': 'bytes' })
        .end('ata"');
    });
    const answer = await gateway.query({ method: 'GET', search: '?query={a}', headers: asked });
    expect(told).toMatchObject(asked);
    expect([answer.status, answer.body.toString()]).toEqual([206, 'ata"']);
    expect(answer.headers).toMatchObject({
      'content-range': 'bytes 2-5/11',
      etag: '"b"',
      'accept-ranges': 'bytes',
    });
  });

  test('HEAD is no method of the endpoint: 405 without a body, and the connection is kept', async () => {
    let requests = 0;
    gateway.upstream((req, res) => {
      requests += 1;
      answerOk(req, res);
    });
    const head = (method: string) =>
      `${method} /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: Bearer ${gateway.auth.issue()}\r\n`;
    const answers = await sendRaw(
      gateway.graphqlUrl,
      `${head('HEAD')}\r\n${head('POST')}Content-Length: 2\r\n\r\n{}`,
    );
    expect(answers).toMatch(/^HTTP\/1\.1 405 [^]*\r\n\r\nHTTP\/1\.1 200 /);
    expect(requests).toBe(1);
  });

  test('an event stream: the head and each event at once, not when the next one comes', async () => {
    let send: (event: string) => void = () => undefined;
    gateway.upstream((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      send = (event) => {
        res.write(event);
        if (event === 'last') res.end();
      };
    });
    const { answer } = begin(gateway.graphqlUrl, {
      headers: { authorization: `Bearer ${gateway.auth.issue()}` },
      body: '{}',
    });
    const response = await answer;
    for (const event of ['first', 'second', 'last']) {
      send(event);
      const chunk = await new Promise<Buffer>((resolve) => response.once('data', resolve));
      expect(chunk.toString()).toBe(event);
    }
  });

  test('an answer that ends with its connection ends so for the caller too', async () => {
    gateway.upstream((req) => {
      req.socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"data":{}}');
    });
    const answer = await gateway.query();
    expect(answer.body.toString()).toBe('{"data":{}}');
    expect(answer.headers.connection).toBe('close');
    expect(answer.headers).not.toHaveProperty('transfer-encoding');
  });

  test('an HTTP/1.0 caller gets no chunks', async () => {
    gateway.upstream((_req, res) => {
      res.write('{"data":');
      res.end('{}}');
    });
    const answer = await sendRaw(
      gateway.graphqlUrl,
      `POST /graphql HTTP/1.0\r\nContent-Type: application/json\r\nAuthorization: Bearer ${gateway.auth.issue()}\r\nContent-Length: 2\r\n\r\n{}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer.endsWith('\r\n\r\n{"data":{}}')).toBe(true);
  });
});
