import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { answerOk, startGateway } from './suite/gateway.ts';
import type { GatewayUnderTest } from './suite/gateway.ts';
import { call, sendRaw } from './suite/http-client.ts';
import { withLimits } from './suite/stand-ins.ts';
import { openRaw, refusedUpgrade } from './suite/raw-socket.ts';
import { startRecordingStandIn } from './suite/recording-stand-in.ts';
import type { RecordingStandIn, Seen } from './suite/recording-stand-in.ts';

const PAGE = 'https://app.example';
const EXPOSED = [
  'RateLimit',
  'RateLimit-Policy',
  'X-Points-Cost',
  'X-Points-Estimate',
  'X-Points-Remaining',
  'X-Request-Id',
];

let gateway: GatewayUnderTest;
let standIn: RecordingStandIn;
const seenByStandIn: Seen[] = [];

async function start(origins: string, env: Record<string, string> = {}): Promise<void> {
  standIn = await startRecordingStandIn('stand-in', seenByStandIn);
  gateway = await startGateway({
    env: { CORS_ALLOWED_ORIGINS: origins, ...env },
    publicUrls: { auth: standIn.url, account: standIn.url },
  });
}

async function stop(): Promise<void> {
  await gateway.stop();
  await standIn.goAway();
}

function preflight(path: string, headers: Record<string, string> = {}) {
  return call(gateway.process.publicUrl + path, {
    method: 'OPTIONS',
    headers: { origin: PAGE, 'access-control-request-method': 'POST', ...headers },
  });
}

const from = (origin: string) => ({ headers: { origin } });
const socketUrl = () => gateway.graphqlUrl.replace('http', 'ws');

describe('with CORS_ALLOWED_ORIGINS=*', () => {
  beforeAll(() => start('*', { UPSTREAM_V1_URL: 'http://127.0.0.1:9', MAX_REQUEST_BODY_BYTES: '1000' }));
  beforeEach(() => {
    seenByStandIn.length = 0;
    gateway.upstream(answerOk);
  });
  afterAll(stop);

  test.each([
    ['/graphql', 'GET, POST'],
    ['/graphql?token=x', 'GET, POST'],
    ['/v1/graphql', 'GET, POST'],
    ['/graphql/costs', 'GET'],
    ['/v1/graphql/costs', 'GET'],
    ['/api/usage', 'GET'],
    ['/api/credits', 'GET'],
  ])('a preflight for %s is answered without a token, to be kept for hours', async (path, methods) => {
    const fields = 'authorization,content-type,apollo-require-preflight,x-of-their-own';
    const { status, headers, body } = await preflight(path, { 'access-control-request-headers': fields });
    expect([status, body.length]).toEqual([204, 0]);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': methods,
      'access-control-allow-headers': fields,
      'access-control-max-age': '7200',
    });
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    expect(seenByStandIn).toEqual([]);
  });

  test.each(['/oauth2/token', '/api/console/session', '/user', '/api/usage/x'])(
    'there is none for %s',
    async (path) => {
      const { headers } = await preflight(path);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    },
  );

  test('an OPTIONS that is no preflight is 405, and names of fields that are none are not repeated', async () => {
    expect((await call(gateway.graphqlUrl, { method: 'OPTIONS', ...from(PAGE) })).status).toBe(405);
    const { headers } = await preflight('/graphql', { 'access-control-request-headers': 'a: b; c' });
    expect(headers).not.toHaveProperty('access-control-allow-headers');
  });

  test('a page may read an answer and where it stands; of the upstream’s own word nothing is left', async () => {
    gateway.upstream((_req, res) => {
      res.writeHead(200, [
        'Access-Control-Allow-Origin',
        'https://upstream.example',
        'Access-Control-Allow-Credentials',
        'true',
        'Access-Control-Expose-Headers',
        'X-Inner',
        'Vary',
        'Accept-Encoding',
        'ETag',
        '"7"',
        'Content-Length',
        '2',
      ]);
      res.end('{}');
    });
    const { status, headers, body } = await gateway.query(from(PAGE));
    expect([status, body.toString()]).toEqual([200, '{}']);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      vary: 'Accept-Encoding, Authorization',
      etag: '"7"',
    });
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    const exposed = headers['access-control-expose-headers']?.split(', ');
    expect(exposed).toEqual(expect.arrayContaining(EXPOSED));
    expect(exposed).not.toContain('X-Inner');
  });

  test.each([20, 50_000])('answers of %i bytes come whole', async (length) => {
    const text = 'x'.repeat(length);
    gateway.upstream((_req, res) => res.end(text));
    const { headers, body } = await gateway.query(from(PAGE));
    expect([headers['access-control-allow-origin'], body.toString()]).toEqual(['*', text]);
  });

  test('a page may read every refusal', async () => {
    gateway.account.entitle(11, withLimits(11, { points_limit: 0 }));
    gateway.account.entitle(12, withLimits(12, { session_limit: 0 }));
    gateway.account.entitle(13, { status: 'blocked' });
    const of = (accountId: number) => ({ ...from(PAGE), token: gateway.auth.issue({ accountId }) });
    const refusals = [
      await gateway.query({ ...from(PAGE), token: 'wrong' }),
      await gateway.query(of(11)),
      await gateway.query(of(12)),
      await gateway.query(of(13)),
      await gateway.query({ ...from(PAGE), method: 'PUT' }),
      await gateway.query({ ...from(PAGE), body: 'x'.repeat(2_000) }),
      await gateway.query({ ...from(PAGE), search: `?${'x'.repeat(9_000)}` }),
      await call(`${gateway.process.publicUrl}/v1/graphql`, {
        body: '{}',
        headers: { origin: PAGE, authorization: `Bearer ${gateway.auth.issue()}` },
      }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([401, 402, 429, 403, 405, 413, 414, 502]);
    for (const { headers } of refusals) {
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-expose-headers']?.split(', ')).toEqual(expect.arrayContaining(EXPOSED));
    }
  });

  test('a page may read its usage, also where account is away', async () => {
    const usage = () => call(`${gateway.process.publicUrl}/api/usage`, { method: 'GET', ...from(PAGE) });
    standIn.answers((_req, res) => res.setHeader('access-control-allow-origin', 'https://other').end('{}'));
    const answer = await usage();
    await standIn.goAway();
    const away = await usage();
    await standIn.comeBack();
    expect([answer.status, away.status]).toEqual([200, 503]);
    for (const { headers } of [answer, away]) expect(headers['access-control-allow-origin']).toBe('*');
    standIn.answers(null);
  });

  test('of the token endpoint auth itself says what a page may read', async () => {
    standIn.answers((_req, res) => res.setHeader('access-control-allow-origin', '*').end('{}'));
    const answer = await call(`${gateway.process.publicUrl}/oauth2/token`, { body: '', ...from(PAGE) });
    standIn.answers((_req, res) => res.end('{}'));
    const silent = await call(`${gateway.process.publicUrl}/oauth2/token`, { body: '', ...from(PAGE) });
    expect(
      [answer, silent].map(({ status, headers }) => [status, headers['access-control-allow-origin']]),
    ).toEqual([
      [200, '*'],
      [200, undefined],
    ]);
    standIn.answers(null);
  });

  test('without an Origin nothing is said of it', async () => {
    const { headers } = await gateway.query();
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    expect(headers.vary).toBe('Authorization');
  });

  test('two Origins are none', async () => {
    const answer = await sendRaw(
      gateway.process.publicUrl,
      `POST /graphql HTTP/1.1\r\nHost: a\r\nOrigin: ${PAGE}\r\nOrigin: ${PAGE}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).not.toMatch(/access-control/i);
  });

  test.each([PAGE, 'null'])('a WebSocket may come from everywhere (%s)', async (origin) => {
    const { socket } = await openRaw(socketUrl(), { origin });
    socket.close();
  });
});

describe('with a list of origins', () => {
  beforeAll(() => start(`${PAGE}, http://localhost:5173,app://tollgate`));
  beforeEach(() => {
    gateway.upstream(answerOk);
  });
  afterAll(stop);

  test.each([PAGE, 'http://localhost:5173', 'app://tollgate'])('%s is let in', async (origin) => {
    for (const answer of [await preflight('/graphql', { origin }), await gateway.query(from(origin))]) {
      expect(answer.headers['access-control-allow-origin']).toBe(origin);
      expect(answer.headers.vary).toMatch(/\bOrigin\b/);
    }
    const { socket } = await openRaw(socketUrl(), { origin });
    socket.close();
  });

  test.each([
    'https://other.example',
    'https://app.example.evil',
    'https://app.example:8443',
    'http://app.example',
    'HTTPS://APP.EXAMPLE',
    'http://localhost',
    'null',
  ])('%s is not', async (origin) => {
    const asked = await preflight('/graphql', { origin });
    const answer = await gateway.query(from(origin));
    expect([asked.status, answer.status]).toEqual([204, 200]);
    for (const { headers } of [asked, answer]) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
      expect(headers.vary).toMatch(/\bOrigin\b/);
    }
    expect(await refusedUpgrade(socketUrl(), { origin })).toMatchObject({
      status: 403,
      body: { errors: [{ extensions: { code: 'forbidden' } }] },
    });
  });

  test('a WebSocket may come from a program, and from a page of the gateway’s own host', async () => {
    for (const options of [{}, { origin: new URL(gateway.graphqlUrl).origin }]) {
      const { socket } = await openRaw(socketUrl(), options);
      socket.close();
    }
  });

  test('an answer that is kept on its way says that it depends on Origin, also where there was none', async () => {
    gateway.upstream((_req, res) => res.setHeader('vary', 'Accept').end('{}'));
    expect((await gateway.query({ method: 'GET' })).headers.vary).toBe('Accept, Authorization, Origin');
    expect((await gateway.query(from(PAGE))).headers.vary).toBe('Accept, Authorization, Origin');
  });
});

describe('without CORS_ALLOWED_ORIGINS', () => {
  beforeAll(() => start(''));
  afterAll(stop);

  test('there are no preflights, the upstream’s word passes, and WebSockets come from everywhere', async () => {
    gateway.upstream((_req, res) => res.setHeader('access-control-allow-origin', '*').end('{}'));
    const asked = await preflight('/graphql');
    expect(asked.status).toBe(405);
    expect(asked.headers).not.toHaveProperty('access-control-allow-origin');
    expect((await gateway.query(from(PAGE))).headers['access-control-allow-origin']).toBe('*');
    const { socket } = await openRaw(socketUrl(), { origin: 'https://other.example' });
    socket.close();
  });
});
