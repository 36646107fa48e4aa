import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connectRaw } from '@tollgate/plain-http/raw-client';
import type { RawClient } from '@tollgate/plain-http/raw-client';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { begin, call, sendRaw } from '../../test/suite/http-client.ts';
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
    env: { PLAIN_ROUTE_TIMEOUT_MS: '500', STRICT_TRANSPORT_SECURITY: 'max-age=600; includeSubDomains' },
  });
  url = gateway.process.publicUrl;
});

beforeEach(() => {
  seen.length = 0;
  account.answers(null);
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([auth.goAway(), account.goAway()]);
});

/** Lets the peer act once half of its answer is there; then the connection is reset. */
async function expectHalf({ received, closed }: RawClient, act: () => void): Promise<void> {
  await waitFor(() => received().endsWith('half'));
  act();
  expect(await closed).toBe('ECONNRESET');
}

describe('only these paths lead anywhere, and they arrive as they were sent', () => {
  test.each([
    ['/api/usage', 'account'],
    ['/api/usage?a=%20b&c', 'account'],
    ['/api/usage?period_id=17', 'account'],
    ['/api/credits', 'account'],
    ['/api/console/session', 'account'],
    ['/api/openapi.json', 'account'],
    ['/payments/stripe/events', 'account'],
    ['/api/docs', 'account'],
    ['/docs/tokens', 'account'],
    ['/api/docs/swagger-ui.css', 'account'],
    ['/user', 'account'],
    ['/user/', 'account'],
    ['/user/api_v2/applications/17?tab=tokens', 'account'],
    ['/user/caf%C3%A9', 'account'],
    ['/scim/v2/Users?filter=userName%20eq%20%22a@b.example%22', 'account'],
    ['/scim/v2/Schemas/urn:ietf:params:scim:schemas:core:2.0:User', 'account'],
    ['/oauth2/token', 'auth'],
    ['/oauth2/revoke', 'auth'],
    ['/.well-known/oauth-authorization-server', 'auth'],
  ])('%s: %s', async (path, service) => {
    const answer = await call(url + path, { method: 'GET' });
    expect(answer.status).toBe(200);
    expect(seen).toMatchObject([{ service, url: path }]);
  });

  test.each([
    '/',
    '/private/entitlements/7',
    '/health/live',
    '/metrics',
    '/users',
    '/USER',
    '/api',
    '/api/usages',
    '/api/consoles',
    '/oauth2x',
    '/scim',
    '/scim/v1/Users',
    '/.well-known',
    '/.well-known/openid-configuration',
    '/graphql/',
    '/graphql/x',
    '//graphql',
    '/%67raphql',
    '/oauth2/../private/x',
    '/oauth2/%2e%2e/private/x',
    '/oauth2/..%2fprivate/x',
    '/oauth2/.%2E/private/x',
    '/oauth2/..;/private/x',
    '/oauth2//private',
    '//oauth2/token',
    '/oauth2/%00',
    '/oauth2/..%5c..%5cprivate',
    '/user/%252e%252e/private',
  ])('%s: 404 problem+json', async (path) => {
    const answer = await sendRaw(url, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toMatch(/content-type: application\/problem\+json/i);
    expect(answer).toMatch(/"code":"not_found","request_id":"[0-9a-f]{32}"/);
    expect(seen).toHaveLength(0);
  });

  test.each(['ftp://other/oauth2/token', 'http:/user', '*', 'oauth2/token'])(
    'the request target %s: 400',
    async (target) => {
      const method = target === '*' ? 'OPTIONS' : 'GET';
      const answer = await sendRaw(
        url,
        `${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(seen).toHaveLength(0);
    },
  );

  test('CONNECT gets no tunnel', async () => {
    expect(await sendRaw(url, 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: a\r\n\r\n')).not.toMatch(
      /^HTTP\/1\.1 2/,
    );
  });
});

describe('what the peer is told', () => {
  test('the request with its credentials and body; a new request id; where it came from', async () => {
    const answer = await call(`${url}/oauth2/token`, {
      headers: {
        authorization: 'Basic dXNlcjpwYXNz',
        cookie: 'session=1',
        'content-type': 'application/x-www-form-urlencoded',
        'x-request-id': 'the-callers-own',
        'x-forwarded-for': '10.0.0.1',
        'x-account-id': '1',
        x_account_id: '1',
        traceparent: '00-11111111111111111111111111111111-1111111111111111-01',
        connection: 'x-named, close',
        'x-named': 'dropped',
      },
      body: 'grant_type=client_credentials',
    });
    const { headers, body } = seen[0] as Seen;
    expect(body).toBe('grant_type=client_credentials');
    expect(headers).toMatchObject({
      authorization: 'Basic dXNlcjpwYXNz',
      cookie: 'session=1',
      'content-length': '29',
      'x-request-id': answer.headers['x-request-id'],
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': new URL(url).host,
      via: '1.1 tollgate',
      host: new URL(auth.url).host,
    });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
    expect(headers['traceparent']).not.toContain('1111111111111111');
    for (const name of ['x-account-id', 'x_account_id', 'x-named']) expect(headers).not.toHaveProperty(name);
  });

  test('a chunked body arrives whole', async () => {
    await call(`${url}/user/x`, { headers: { 'transfer-encoding': 'chunked' }, body: 'x'.repeat(60_000) });
    expect(seen[0]?.body).toHaveLength(60_000);
  });
});

describe('the answer', () => {
  test('is the peer’s: status, headers, cookies, body; with the gateway’s request id', async () => {
    account.answers((_req, res) => {
      res.writeHead(302, {
        location: '/user/sign-in',
        'set-cookie': ['a=1; HttpOnly', 'b=2'],
        'content-security-policy': "default-src 'self'",
        'x-request-id': 'the-peers',
        connection: 'x-hop',
        'x-hop': '1',
      });
      res.end('moved');
    });
    const answer = await call(`${url}/user`, { method: 'GET' });
    expect(answer.status).toBe(302);
    expect(answer.body.toString()).toBe('moved');
    expect(answer.headers).toMatchObject({
      location: '/user/sign-in',
      'set-cookie': ['a=1; HttpOnly', 'b=2'],
      'content-security-policy': "default-src 'self'",
      'x-request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(answer.headers).not.toHaveProperty('x-hop');
  });

  test('that breaks off is cut for the caller as well', async () => {
    account.answers((_req, res) => {
      res.writeHead(200, { 'content-length': '100' });
      res.write('x', () => res.socket?.destroy());
    });
    const response = await begin(`${url}/user`, { method: 'GET' }).answer;
    response.resume().on('error', () => undefined);
    await new Promise((resolve) => response.once('close', resolve));
    expect(response.complete).toBe(false);
  });

  test.each<[string, (socket: Socket) => void]>([
    ['breaks off', (socket) => socket.destroy()],
    ['is reset', (socket) => socket.resetAndDestroy()],
    ['falls silent', () => undefined],
  ])(
    'an HTTP/1.0 caller, whose answer ends with its connection, sees a reset where it %s',
    async (_name, act) => {
      let atStandIn: Socket | undefined;
      account.answers((req, res) => {
        atStandIn = req.socket;
        res.writeHead(200).write('half');
      });
      const caller = connectRaw(url);
      caller.socket.write('GET /user HTTP/1.0\r\nHost: a\r\n\r\n');
      await expectHalf(caller, () => {
        act(atStandIn as Socket);
      });
    },
  );

  test('one that ends with its connection and is reset is reset for the caller as well', async () => {
    let atStandIn: Socket | undefined;
    account.answers((req) => {
      atStandIn = req.socket;
      req.socket.write('HTTP/1.1 200 OK\r\n\r\nhalf');
    });
    const caller = connectRaw(url);
    caller.socket.write('GET /user HTTP/1.0\r\nHost: a\r\n\r\n');
    await expectHalf(caller, () => atStandIn?.resetAndDestroy());
  });

  test('a caller that goes away ends the request to the peer', async () => {
    const ended = new Promise((resolve) => {
      account.answers((_req, res) => {
        res.once('close', resolve);
        res.writeHead(200);
        res.write('x');
      });
    });
    const { request, answer } = begin(`${url}/user`, { method: 'GET' });
    await answer;
    request.socket?.resetAndDestroy();
    await ended;
  });
});

describe('a peer that is not there', () => {
  test('silent account: 503 problem+json with Retry-After', async () => {
    account.answers(() => undefined);
    const answer = await call(`${url}/api/usage`, { method: 'GET' });
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.json()).toMatchObject({
      code: 'service_unavailable',
      request_id: answer.headers['x-request-id'],
    });
  });

  test('account that closes: 503 problem+json', async () => {
    account.answers((req) => req.socket.destroy());
    const answer = await call(`${url}/user`, { method: 'GET' });
    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({ code: 'service_unavailable' });
  });

  test('auth that is gone: 503 as RFC 6749 JSON, not to be stored; and it returns by itself', async () => {
    await auth.goAway();
    const answer = await call(`${url}/oauth2/token`, { body: 'grant_type=client_credentials' });
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: expect.not.stringMatching(/127\.0\.0\.1|ECONN/),
    });
    await auth.comeBack();
    expect((await call(`${url}/oauth2/token`)).status).toBe(200);
  });
});

test('helmet’s headers are on what the gateway itself answers', async () => {
  const answer = await call(`${url}/nowhere`, { method: 'GET' });
  expect(answer.headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
  expect(answer.headers['content-security-policy']).toContain('default-src');
  expect(answer.headers).not.toHaveProperty('x-powered-by');
});

test('Strict-Transport-Security is this gateway’s, on its own answers and on a peer’s', async () => {
  account.answers((_req, res) => {
    res.writeHead(200, { 'strict-transport-security': 'max-age=31536000' }).end();
  });
  for (const path of ['/nowhere', '/user', '/oauth2/token']) {
    const { headers } = await call(url + path, { method: 'GET' });
    expect(headers['strict-transport-security']).toBe('max-age=600; includeSubDomains');
  }
});

test('a kept-alive connection serves both paths', async () => {
  const { socket } = connectRaw(url);
  await once(socket, 'connect');
  const exchange = async (request: string) => {
    socket.write(request);
    return String(((await once(socket, 'data')) as unknown[])[0]);
  };
  expect(await exchange('GET /user HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  expect(await exchange('GET /graphql HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 401 /);
  expect(await exchange('GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 404 /);
  socket.destroy();
});

test('every line of the log is JSON, without a query string', async () => {
  await call(`${url}/user?secretParameter=1`, { method: 'GET' });
  const lines = gateway.process.logs().trim().split('\n');
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ service: 'gateway' });
  expect(lines.join('\n')).not.toContain('secretParameter');
});
