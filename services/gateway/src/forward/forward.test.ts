import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../suite/gateway.ts';
import type { GatewayUnderTest } from '../suite/gateway.ts';
import { begin, sendRaw } from '../suite/http-client.ts';
import { bodyOf } from '../suite/server.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway({ env: { MAX_REQUEST_BODY_BYTES: '200000' } });
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

type Seen = { method: string; url: string; headers: IncomingHttpHeaders; rawHeaders: string[]; body: Buffer };

/** Makes the upstream keep what it gets, and answer. */
function watchUpstream(): Seen[] {
  const seen: Seen[] = [];
  gateway.upstream((req, res) => {
    void bodyOf(req).then((body) => {
      const { method = '', url = '', headers, rawHeaders } = req;
      seen.push({ method, url, headers, rawHeaders, body });
      res.end('{"data":{}}');
    });
  });
  return seen;
}

describe('what the upstream is told', () => {
  test('who calls, who pays and through which application; its own path; never the credential', async () => {
    const seen = watchUpstream();
    const token = gateway.auth.issue({ accountId: 41, applicationId: 410 });
    gateway.account.entitle(41, { payer_id: 40 });
    const answer = await gateway.query({
      token,
      headers: { cookie: 'session=1', 'proxy-authorization': 'x' },
    });
    expect(answer.status).toBe(200);
    expect(seen).toHaveLength(1);
    const { url, headers } = seen[0] as Seen;
    expect(url).toBe('/data/graphql');
    expect(headers).toMatchObject({
      'x-account-id': '41',
      'x-payer-id': '40',
      'x-application-id': '410',
      'x-request-id': answer.headers['x-request-id'],
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': new URL(gateway.graphqlUrl).host,
      via: '1.1 tollgate',
      host: expect.not.stringContaining(new URL(gateway.graphqlUrl).host),
    });
    expect(headers['traceparent']).toMatch(
      new RegExp(`^00-${String(answer.headers['x-request-id'])}-[0-9a-f]{16}-`),
    );
    for (const secret of ['authorization', 'cookie', 'proxy-authorization']) {
      expect(headers).not.toHaveProperty(secret);
    }
    expect(JSON.stringify(headers)).not.toContain(token);
  });

  test('nothing that a caller says of its identity, named in Connection or not', async () => {
    const seen = watchUpstream();
    await sendRaw(
      gateway.graphqlUrl,
      [
        'POST /graphql HTTP/1.1',
        'Host: a',
        `Authorization: Bearer ${gateway.auth.issue({ accountId: 42, applicationId: 420 })}`,
        'Connection: close, X-Account-Id, x-payer-id, X-Application-Id, X-Request-Id, traceparent, X-Secret, Host',
        'X-Account-Id: 1',
        'x_account_id: 1',
        'X-Payer-Id: 1',
        'X-Request-Id: forged',
        'traceparent: 00-11111111111111111111111111111111-1111111111111111-01',
        'tracestate: a=b',
        'X-Forwarded-For: 10.0.0.1',
        'X-Secret: dropped',
        'X-Kept: yes',
        'Content-Length: 2',
        '',
        '{}',
      ].join('\r\n'),
    );
    const { headers, body } = seen[0] as Seen;
    expect(headers).toMatchObject({
      'x-account-id': '42',
      'x-payer-id': '42',
      'x-application-id': '420',
      'x-kept': 'yes',
      'x-forwarded-for': '127.0.0.1',
      'content-length': '2',
    });
    for (const name of ['x_account_id', 'x-secret', 'tracestate']) expect(headers).not.toHaveProperty(name);
    expect(headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
    expect(headers['traceparent']).not.toContain('1111111111111111');
    expect(body.toString()).toBe('{}');
  });

  test("a GET's query string, byte for byte, less any token", async () => {
    const seen = watchUpstream();
    const token = gateway.auth.issue();
    await gateway.query({
      method: 'GET',
      search: `?query=%7Ba%20b%7d&variables={%22x%22:1}&token=${token}&access_token=${token}&extensions=`,
    });
    expect(seen[0]).toMatchObject({
      method: 'GET',
      url: '/data/graphql?query=%7Ba%20b%7d&variables={%22x%22:1}&extensions=',
    });
  });
});

describe('request bodies arrive as they were sent', () => {
  test.each([0, 1, 16_384, 16_385, 200_000])('%i bytes with Content-Length', async (bytes) => {
    const seen = watchUpstream();
    const body = Buffer.alloc(bytes, 'x');
    expect((await gateway.query({ body })).status).toBe(200);
    expect(seen[0]?.body.equals(body)).toBe(true);
    expect(seen[0]?.headers['content-length']).toBe(String(bytes));
  });

  test('chunks of unknown length', async () => {
    const seen = watchUpstream();
    const answer = await sendRaw(
      gateway.graphqlUrl,
      `POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.auth.issue()}\r\nConnection: close\r\n` +
        'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: dropped\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(seen[0]?.body.toString()).toBe('abcde');
    expect(seen[0]?.rawHeaders.join()).not.toMatch(/trailer/i);
  });

  test('with Expect: 100-continue', async () => {
    const seen = watchUpstream();
    const answer = await sendRaw(
      gateway.graphqlUrl,
      `POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.auth.issue()}\r\nConnection: close\r\n` +
        'Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    expect(seen[0]?.headers).not.toHaveProperty('expect');
  });
});

describe('a request body over the limit is 413', () => {
  const tooLarge = { errors: [{ extensions: { code: 'payload_too_large' } }] };

  test('by its declared length: without asking the upstream', async () => {
    const seen = watchUpstream();
    const answer = await gateway.query({ body: Buffer.alloc(200_001) });
    expect(answer.status).toBe(413);
    expect(answer.json()).toMatchObject(tooLarge);
    expect(seen).toHaveLength(0);
  });

  test('in chunks: as soon as the limit is passed; the upstream never gets a whole request', async () => {
    const aborted = new Promise((resolve) => {
      gateway.upstream((req) => {
        req.resume().once('close', () => {
          resolve(!req.complete);
        });
      });
    });
    const { request, answer } = begin(gateway.graphqlUrl, {
      headers: { authorization: `Bearer ${gateway.auth.issue()}`, 'transfer-encoding': 'chunked' },
      body: Buffer.alloc(1_000_000),
    });
    const response = await answer;
    expect(response.statusCode).toBe(413);
    expect(JSON.parse((await bodyOf(response)).toString())).toMatchObject(tooLarge);
    expect(await aborted).toBe(true);
    request.destroy();
  });

  test('the connection can be used again when a moderate body has been read away', async () => {
    const head = `POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.auth.issue()}\r\n`;
    const answers = await sendRaw(
      gateway.graphqlUrl,
      Buffer.concat([
        Buffer.from(`${head}Content-Length: 300000\r\n\r\n`),
        Buffer.alloc(300_000, 'x'),
        Buffer.from(`${head}Connection: close\r\nContent-Length: 2\r\n\r\n{}`),
      ]),
    );
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });
});

test('an answer that comes before the end of the body leaves the connection usable', async () => {
  gateway.upstream((req, res) => {
    if (Number(req.headers['content-length']) > 2) res.writeHead(400).end('early');
    else answerOk(req, res);
  });
  const head = `POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.auth.issue()}\r\n`;
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(gateway.graphqlUrl).port) });
  socket.setEncoding('latin1');
  let received = '';
  socket.on('data', (chunk: string) => (received += chunk));
  socket.write(`${head}Content-Length: 150000\r\n\r\n${'x'.repeat(20_000)}`);
  await waitFor(() => received.includes('early'));
  socket.write(`${'x'.repeat(130_000)}${head}Content-Length: 2\r\n\r\n{}`);
  await waitFor(() => received.includes('{"data":{}}'));
  socket.destroy();
});

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
        ...['Connection', 'X-Hop', 'X-Hop', '1', 'Keep-Alive', 'timeout=9', 'Trailer', 'X-T'],
        ...['Vary', 'Accept', 'Vary', 'Origin', 'Cache-Control', 'no-cache', 'Set-Cookie', 'session=theirs'],
        ...['X-Points', '12', 'X-Points-Cost', '1', 'X-Request-Id', 'theirs', 'X-Billing-Status', 'gold'],
        ...['Transfer-Encoding', 'chunked'],
      ]);
      res.addTrailers({ 'x-t': 'dropped' });
      res.end('teapot');
    });
    const answer = await gateway.query();
    expect(answer.status).toBe(418);
    expect(answer.body.toString()).toBe('teapot');
    expect(answer.headers).toMatchObject({
      vary: 'Accept, Origin',
      'cache-control': 'no-cache',
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
      `POST /graphql HTTP/1.0\r\nAuthorization: Bearer ${gateway.auth.issue()}\r\nContent-Length: 2\r\n\r\n{}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer.endsWith('\r\n\r\n{"data":{}}')).toBe(true);
  });
});
