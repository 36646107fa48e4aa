import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startServiceProcess } from '@tollgate/testbed/service-process';
import { startGateway } from './suite/gateway.ts';
import type { GatewayUnderTest } from './suite/gateway.ts';
import { call } from './suite/http-client.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway();
});

afterAll(() => gateway.stop());

function operations(path: string) {
  return call(gateway.process.privateUrl + path, { method: 'GET' });
}

describe('the private listener', () => {
  test('is ready while Redis is, whether or not auth, account and the upstream are', async () => {
    await gateway.auth.goAway();
    await gateway.account.goAway();
    const answer = await operations('/health/ready');
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ status: 'ready', checks: { redis: 'ok' } });
    await gateway.auth.comeBack();
    await gateway.account.comeBack();
  });

  test('has metrics of calls, caches and settlement', async () => {
    await gateway.query();
    await gateway.query();
    // Callers get their response before the usage is acknowledged.
    await waitFor(async () => (await gateway.metric('tollgate_settlement_queue_events')) === 0);
    const body = (await operations('/metrics')).body.toString();
    for (const sample of [
      'tollgate_data_calls_total{outcome="answered",service="gateway"} 2',
      'tollgate_data_call_duration_seconds_count{service="gateway"} 2',
      'tollgate_data_calls_in_flight{service="gateway"} 0',
      'tollgate_introspections_total{outcome="miss",service="gateway"} 1',
      'tollgate_introspections_total{outcome="hit",service="gateway"} 1',
      'tollgate_entitlements_total{outcome="hit",service="gateway"} 1',
      'tollgate_settlement_batches_total{outcome="recorded",service="gateway"}',
      'tollgate_settlement_queue_events{service="gateway"} 0',
    ]) {
      expect(body).toContain(sample);
    }
  });

  test('serves no data, and the public one no operations', async () => {
    expect((await operations('/graphql')).status).toBe(404);
    expect((await call(`${gateway.process.publicUrl}/metrics`, { method: 'GET' })).status).toBe(404);
  });

  test('an error has a request id, in the document and the header', async () => {
    const { headers, json } = await operations('/nowhere');
    expect(json()).toMatchObject({ code: 'not_found', request_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(json()).toMatchObject({ request_id: headers['x-request-id'] });
  });
});

test('missing and wrong settings are all named, without their values, before anything listens', async () => {
  const start = startServiceProcess('gateway', {
    REDIS_URL: 'http://wrong',
    AUTH_PRIVATE_URL: 'ftp://user:hunter2secret@wrong',
    UPSTREAM_URL: 'http://upstream/graphql?key=hunter2secret',
    DEFAULT_POINTS: '-1',
    PLAIN_ROUTE_TIMEOUT_MS: '0',
  });
  const error = await start.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  const message = String(error);
  for (const name of [
    'REDIS_URL',
    'AUTH_PRIVATE_URL',
    'AUTH_PUBLIC_URL',
    'ACCOUNT_PRIVATE_URL',
    'ACCOUNT_PUBLIC_URL',
    'UPSTREAM_URL',
    'DEFAULT_POINTS',
    'PLAIN_ROUTE_TIMEOUT_MS',
  ]) {
    expect(message).toContain(name);
  }
  expect(message).not.toContain('hunter2secret');
});

test.each([
  ['SETTLEMENT_INTERVAL_MS', { SETTLEMENT_INTERVAL_MS: '50', SETTLEMENT_TIMEOUT_MS: '50' }],
  ['APQ', { APQ: 'pass', STRICT_POINTS: 'all' }],
  ['GRAPHQL_READ', { GRAPHQL_READ: 'off', STRICT_POINTS: 'all' }],
  ['GRAPHQL_DOCUMENTS', { GRAPHQL_TRUSTED_DOCUMENTS: 'all' }],
])('%s that doesn’t go with another setting is refused', async (name, settings) => {
  const url = 'http://127.0.0.1:1';
  const start = startServiceProcess('gateway', {
    REDIS_URL: 'redis://127.0.0.1:1',
    AUTH_PRIVATE_URL: url,
    AUTH_PUBLIC_URL: url,
    ACCOUNT_PRIVATE_URL: url,
    ACCOUNT_PUBLIC_URL: url,
    UPSTREAM_URL: url,
    ...settings,
  });
  await expect(start).rejects.toThrow(`- ${name}: `);
});
