import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { answerOk, startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';
import { sendRaw } from '../../../../test/suite/http-client.ts';
import { watchUpstream } from '../../../../test/suite/upstreams/watch-upstream.ts';
import type { UpstreamSeen } from '../../../../test/suite/upstreams/watch-upstream.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway();
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

describe('what the upstream is told', () => {
  test('who calls, who pays and through which application; its own path; never the credential', async () => {
    const seen = watchUpstream(gateway);
    const token = gateway.auth.issue({ accountId: 41, applicationId: 410 });
    gateway.account.entitle(41, { payer_id: 40 });
    const answer = await gateway.query({
      token,
      headers: { cookie: 'session=1', 'proxy-authorization': 'x' },
    });
    expect(answer.status).toBe(200);
    expect(seen).toHaveLength(1);
    const { url, headers } = seen[0] as UpstreamSeen;
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
    const seen = watchUpstream(gateway);
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
        'Content-Type: application/json',
        'Content-Length: 2',
        '',
        '{}',
      ].join('\r\n'),
    );
    const { headers, body } = seen[0] as UpstreamSeen;
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
    const seen = watchUpstream(gateway);
    const token = gateway.auth.issue();
    await gateway.query({
      method: 'GET',
      search: `?query=%7Ba%20b%7d&variables={%22x%22:1}&token=${token}&access_token=${token}&extensions={}`,
    });
    expect(seen[0]).toMatchObject({
      method: 'GET',
      url: '/data/graphql?query=%7Ba%20b%7d&variables={%22x%22:1}&extensions={}',
    });
  });
});
