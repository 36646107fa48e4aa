import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startCollector } from '../../test/suite/collector.ts';
import type { CollectedSpan, Collector } from '../../test/suite/collector.ts';
import { answerOk, startGateway } from '../../test/suite/gateway.ts';
import type { GatewayOptions, GatewayUnderTest } from '../../test/suite/gateway.ts';
import { startUpstreamServer } from '../../test/suite/upstreams/upstream-server.ts';
import { watchUpstream } from '../../test/suite/upstreams/watch-upstream.ts';

let collector: Collector;
let gateway: GatewayUnderTest;

beforeEach(async () => {
  collector = await startCollector();
});

afterEach(async () => {
  await gateway.stop();
  await collector.goAway();
});

async function start(env: Record<string, string> = {}, options: GatewayOptions = {}): Promise<void> {
  gateway = await startGateway({
    ...options,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=of%20the%20collector',
      ...env,
    },
  });
}

/** Spans of one trace, when the gateway has sent all that it recorded. */
async function spansOf(traceId: string): Promise<CollectedSpan[]> {
  await gateway.process.stop();
  return collector.spansOf(traceId);
}

test('a call is a trace with the id of its request, its parts are spans, and the upstream continues it', async () => {
  await start();
  const seen = watchUpstream(gateway);
  const token = gateway.auth.issue();
  const answer = await gateway.query({ token, method: 'GET', search: '?query={secretField}&token=abc' });
  expect(answer.status).toBe(200);
  const traceId = String(answer.headers['x-request-id']);
  const spans = await spansOf(traceId);
  const call = spans.find(({ name }) => name === 'GET /graphql');
  expect(call?.attributes).toMatchObject({
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'http.route': '/graphql',
    'url.path': '/graphql',
    'tollgate.outcome': 'answered',
  });
  const parts = spans.filter(({ parentSpanId }) => parentSpanId === call?.spanId);
  expect(parts.map(({ name }) => name)).toEqual([
    'authenticate',
    'entitle',
    'read',
    'admit',
    'forward',
    'settle',
  ]);
  const [authenticate, entitle, , , forward] = parts;
  expect(forward?.attributes).toMatchObject({ 'server.address': '127.0.0.1' });
  expect(forward?.kind).toBe(3);
  expect(seen[0]?.headers['traceparent']).toBe(`00-${traceId}-${forward?.spanId ?? ''}-01`);
  expect(gateway.auth.headersAt('/oauth2/introspect')['traceparent']).toBe(
    `00-${traceId}-${authenticate?.spanId ?? ''}-01`,
  );
  expect(gateway.account.headersAt('/private/entitlements')['traceparent']).toBe(
    `00-${traceId}-${entitle?.spanId ?? ''}-01`,
  );
  expect(collector.received[0]).toMatchObject({ method: 'POST', url: '/v1/traces' });
  expect(collector.received[0]?.headers['api-key']).toBe('of the collector');
  const everything = collector.everything();
  for (const secret of [token, 'secretField', 'token=abc']) expect(everything).not.toContain(secret);
});

test('a failed call is an error with its code, a second attempt is counted', async () => {
  const gone = await startUpstreamServer('/graphql');
  await gone.goAway();
  await start({ UPSTREAM_URL: gone.url });
  const answer = await gateway.query();
  expect(answer.status).toBe(502);
  const spans = await spansOf(String(answer.headers['x-request-id']));
  for (const name of ['POST /graphql', 'forward']) {
    const span = spans.find((one) => one.name === name);
    expect(span?.status.code).toBe(2);
    expect(span?.attributes).toMatchObject({ 'error.type': 'upstream_unreachable' });
  }
  const forward = spans.find(({ name }) => name === 'forward');
  expect(forward?.attributes).toMatchObject({ 'http.request.resend_count': 1 });
});

test("a trusted proxy's trace is continued, and its word on sampling holds", async () => {
  await start({ TRUSTED_PROXIES: '127.0.0.1' });
  gateway.upstream(answerOk);
  const [kept, dropped] = ['1'.repeat(32), '2'.repeat(32)];
  const parentId = 'b7ad6b7169203331';
  await gateway.query({ headers: { traceparent: `00-${kept}-${parentId}-01` } });
  await gateway.query({ headers: { traceparent: `00-${dropped}-${parentId}-00` } });
  const spans = await spansOf(kept);
  expect(spans.find(({ name }) => name === 'POST /graphql')?.parentSpanId).toBe(parentId);
  expect(collector.everything()).not.toContain(dropped);
});

test.each([
  ['always_off', '1', 0],
  ['parentbased_traceidratio', '0', 0],
  ['traceidratio', '1', 1],
])('OTEL_TRACES_SAMPLER=%s with %s', async (sampler, ratio, flag) => {
  await start({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio });
  const seen = watchUpstream(gateway);
  const answer = await gateway.query();
  expect((await spansOf(String(answer.headers['x-request-id']))).length > 0).toBe(flag === 1);
  expect(seen[0]?.headers['traceparent']).toMatch(new RegExp(`-0${String(flag)}$`));
});

test('a collector that is away costs no call anything, and no shutdown its end', async () => {
  await start();
  await collector.goAway();
  expect((await gateway.query()).status).toBe(200);
  expect((await gateway.process.stop()).code).toBe(0);
  expect(gateway.process.logs()).toContain('spans were not sent');
});
