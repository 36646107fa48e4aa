import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Agent, interceptors, request } from 'undici';
import { startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';
import { leadsOutside } from './answer-rules.ts';

const upstreamHosts = new Set(['graph.example.com', '10.0.0.5']);

test.each([
  ['https://files.example.com/report?x=1', true],
  ['HTTP://files.example.com', true],
  ['https://graph.example.com/login', false],
  ['https://graph.example.com.:8443/login', false],
  ['http://10.0.0.5:8080/', false],
  ['http://10.9.9.9/', false],
  ['http://203.0.113.9/', false],
  ['http://[2001:db8::1]/', false],
  ['http://0x0a000005/', false],
  ['http://upstream:4003/graphql', false],
  ['http://api.default.svc/', false],
  ['http://api.default.svc.cluster.local/', false],
  ['http://localhost/', false],
  ['http://sso.corp.internal/', false],
  ['/login', false],
  ['//files.example.com/x', false],
  ['login', false],
  ['javascript:alert(1)', false],
  ['https://', false],
  ['', false],
])('whether %s may be told: %s', (location, expected) => {
  expect(leadsOutside(location, upstreamHosts)).toBe(expected);
});

describe('of an upstream’s answer', () => {
  let gateway: GatewayUnderTest;

  beforeAll(async () => {
    gateway = await startGateway();
  });

  afterAll(() => gateway.stop());

  function answerWith(status: number, fields: Record<string, string>) {
    gateway.upstream((req, res) => {
      req.resume();
      res.writeHead(status, { 'x-custom': 'kept', ...fields }).end('{"errors":[{"message":"theirs"}]}');
    });
    return gateway.query();
  }

  test('what names its insides, its origin or its credentials stays there', async () => {
    const inside = {
      server: 'nginx/1.2 (internal-7)',
      'x-powered-by': 'Express',
      'alt-svc': 'h3="graph.internal:443"',
      'content-location': '/data/graphql/7',
      'clear-site-data': '"*"',
      refresh: '0; url=http://graph.internal/',
    };
    const { status, headers } = await answerWith(200, inside);
    expect([status, headers['x-custom']]).toEqual([200, 'kept']);
    for (const name of Object.keys(inside)) expect(headers).not.toHaveProperty(name);
    expect(headers).not.toHaveProperty('proxy-status');
  });

  test('what speaks for the whole origin, or claims the gateway’s names, stays there', async () => {
    const forOrigin = {
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      nel: '{"report_to":"theirs","max_age":86400}',
      'report-to': '{"group":"theirs","max_age":86400,"endpoints":[{"url":"https://theirs.example/"}]}',
      'reporting-endpoints': 'default="https://theirs.example/"',
      'service-worker-allowed': '/',
      'origin-agent-cluster': '?1',
      'accept-ch': 'Sec-CH-UA-Model',
      'critical-ch': 'Sec-CH-UA-Model',
      'public-key-pins': 'pin-sha256="x"; max-age=60',
      'public-key-pins-report-only': 'pin-sha256="x"; max-age=60',
      'expect-ct': 'max-age=60, enforce',
      'alt-svc': 'h3=":443"',
      'set-cookie2': 'a=b',
      'set-login': 'logged-in',
      'secure-session-registration': '(ES256); path="/user"',
      'use-as-dictionary': 'match="/*"',
      'cache-group-invalidation': '"all"',
      'x-account-id': '7',
      'x-payer-id': '7',
      'x-application-id': '7',
    };
    const { headers } = await answerWith(200, forOrigin);
    expect(headers['x-custom']).toBe('kept');
    for (const name of Object.keys(forOrigin)) expect(headers).not.toHaveProperty(name);
  });

  test.each([
    ['</app.js>; rel=preload; as=script', undefined],
    ['<https://theirs.example>; rel="next preconnect"', undefined],
    ['<https://docs.example/x>; rel=next, </a>; rel="pre\\load"', undefined],
    ['</d>; REL=Compression-Dictionary', undefined],
    ['<https://docs.example/old>; rel="deprecation"', '<https://docs.example/old>; rel="deprecation"'],
  ])('of the link %s the caller hears %s', async (link, expected) => {
    expect((await answerWith(200, { link })).headers['link']).toBe(expected);
  });

  test.each([
    [{}, 'private'],
    [{ 'cache-control': 'public, max-age=60, s-maxage=600' }, 'private, max-age=60'],
    [{ 'cache-control': 'no-store' }, 'private, no-store'],
  ])('%j lets only the caller’s own cache store it: %s', async (fields, expected) => {
    const { headers } = await answerWith(200, { ...fields, vary: 'Accept' });
    expect([headers['cache-control'], headers.vary]).toEqual([expected, 'Accept, Authorization']);
  });

  test('commands to caches and servers in front of the gateway stay there', async () => {
    const commands = {
      'cdn-cache-control': 'max-age=600',
      'cloudflare-cdn-cache-control': 'max-age=600',
      'vercel-cdn-cache-control': 'max-age=600',
      'akamai-cache-control': 'max-age=600',
      'x-litespeed-cache-control': 'public,max-age=600',
      'surrogate-control': 'max-age=600',
      'surrogate-key': 'all',
      'edge-control': 'cache-maxage=10m',
      'edge-cache-tag': 'all',
      'cache-tag': 'all',
      xkey: 'all',
      'x-accel-expires': '600',
      'x-accel-redirect': '/internal/file',
      'x-sendfile': '/etc/passwd',
    };
    const { headers } = await answerWith(200, { ...commands, 'x-accel-buffering': 'no' });
    for (const name of Object.keys(commands)) expect(headers).not.toHaveProperty(name);
    expect(headers['x-accel-buffering']).toBe('no');
  });

  test('a shared cache in front gives one caller’s answer to no other', async () => {
    let calls = 0;
    gateway.upstream((req, res) => {
      calls += 1;
      const forAll = 'public, max-age=600, s-maxage=600';
      req.resume();
      res.writeHead(200, { 'content-type': 'application/json', 'cache-control': forAll }).end('{"data":{}}');
    });
    const sharedCache = new Agent().compose(interceptors.cache({ type: 'shared' }));
    const throughCache = async (headers: Record<string, string>) => {
      const answer = await request(`${gateway.graphqlUrl}?query={a}`, { dispatcher: sharedCache, headers });
      await answer.body.dump();
      return answer.statusCode;
    };
    const authorization = `Bearer ${gateway.auth.issue()}`;
    expect([await throughCache({ authorization }), await throughCache({ authorization })]).toEqual([
      200, 200,
    ]);
    expect([await throughCache({}), calls]).toEqual([401, 2]);
    await sharedCache.close();
  });

  test.each([
    ['http://127.0.0.1:8080/login', undefined],
    ['/login', undefined],
    ['https://files.example.com/report', 'https://files.example.com/report'],
  ])('a redirect to %s has the Location %s', async (location, expected) => {
    const { status, headers } = await answerWith(307, { location });
    expect([status, headers.location]).toEqual([307, expected]);
  });

  test('a 401 can be told from the gateway’s own', async () => {
    const theirs = await answerWith(401, { 'www-authenticate': 'Basic realm="internal"' });
    expect(theirs.status).toBe(401);
    expect(theirs.headers).not.toHaveProperty('www-authenticate');
    expect(theirs.headers).toMatchObject({
      'proxy-status': 'tollgate; received-status=401',
      'x-billing-status': 'active',
    });
    expect(theirs.json()).toEqual({ errors: [{ message: 'theirs' }] });
    const ours = await gateway.query({ token: 'wrong' });
    expect(ours.status).toBe(401);
    expect(ours.headers['www-authenticate']).toMatch(/^Bearer /);
    expect(ours.headers).not.toHaveProperty('proxy-status');
  });

  test('the word of an upstream on what it received itself doesn’t count', async () => {
    const { headers } = await answerWith(503, { 'proxy-status': 'inner; received-status=401' });
    expect(headers['proxy-status']).toBe('tollgate; received-status=503');
  });
});
