import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
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
