import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startGraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import { openRaw, openReady } from '../../test/suite/raw-socket.ts';
import {
  CALLER_SPAN,
  NOT_FAILED,
  named,
  operationsOf,
  startTracedGateway,
} from '../../test/suite/traced-gateway.ts';
import type { TracedGateway } from '../../test/suite/traced-gateway.ts';

let upstream: GraphqlUpstream;
let gateway: TracedGateway;

beforeEach(async () => {
  upstream = await startGraphqlUpstream();
});

afterEach(async () => {
  await gateway.stop();
  await upstream.close();
});

const TICKS = { type: 'subscribe', payload: { query: 'subscription { ticks }' } };

test('a socket is in its caller’s trace: the upgrade, who calls, the upstream’s connection, each operation, its close', async () => {
  gateway = await startTracedGateway({ UPSTREAM_WS_URL: upstream.url });
  const token = gateway.auth.issue();
  const raw = await openReady(`${gateway.socketUrl}?token=${token}`, token, { headers: gateway.headers });
  const query = 'subscription Clock($n: String) { ticks(name: $n, count: 2) }';
  const payload = { query, variables: { n: 'a secret value' }, operationName: 'Clock' };
  raw.send({ id: '1', type: 'subscribe', payload });
  await raw.message({ type: 'complete', id: '1' });
  raw.socket.close(1000);
  await raw.closed;
  await gateway.socketsGone();

  const spans = await gateway.spans();
  const upgrade = named(spans, 'GET /graphql');
  expect(upgrade).toMatchObject({ kind: 2, parentSpanId: CALLER_SPAN, status: NOT_FAILED });
  expect(upgrade.attributes).toMatchObject({
    'http.request.method': 'GET',
    'http.route': '/graphql',
    'http.response.status_code': 101,
    'tollgate.outcome': 'accepted',
  });
  const below = spans.filter(({ parentSpanId }) => parentSpanId === upgrade.spanId);
  expect(below.map(({ name, kind }) => [name, kind])).toEqual([
    ['authenticate', 1],
    ['entitle', 1],
    ['connect', 3],
    ['GraphQL Operation', 2],
    ['websocket', 1],
  ]);
  const connect = named(spans, 'connect');
  expect(connect.attributes).toMatchObject({
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(upstream.url).port),
    'tollgate.outcome': 'acknowledged',
  });
  expect(upstream.requests.at(-1)?.headers).toMatchObject({
    traceparent: `00-${gateway.traceId}-${connect.spanId}-01`,
    tracestate: 'vendor=opaque',
  });
  expect(gateway.auth.headersAt('/oauth2/introspect')['traceparent']).toBe(
    `00-${gateway.traceId}-${named(spans, 'authenticate').spanId}-01`,
  );
  const operation = named(spans, 'GraphQL Operation');
  expect(operation).toMatchObject({ status: NOT_FAILED });
  expect(operation.attributes).toEqual({
    'graphql.operation.name': 'Clock',
    'network.protocol.name': 'websocket',
    'tollgate.outcome': 'completed',
    'tollgate.request_id': upgrade.attributes['tollgate.request_id'],
  });
  const parts = spans.filter(({ parentSpanId }) => parentSpanId === operation.spanId);
  expect(parts.map(({ name, kind }) => [name, kind])).toEqual([
    ['admit', 1],
    ['forward', 3],
  ]);
  expect(named(spans, 'websocket').attributes).toMatchObject({
    'network.protocol.name': 'websocket',
    'tollgate.outcome': 'closed',
    'tollgate.websocket.close_code': 1000,
  });
  for (const secret of [token, 'ticks', 'a secret value'])
    expect(gateway.collector.everything()).not.toContain(secret);
});

test('without a caller’s trace it is the request’s; a token in connection_init is looked at in spans, too', async () => {
  gateway = await startTracedGateway({ UPSTREAM_WS_URL: upstream.url });
  const token = gateway.auth.issue();
  const raw = await openRaw(gateway.socketUrl);
  raw.send({ type: 'connection_init', payload: { token } });
  await raw.message({ type: 'connection_ack' });
  raw.send({ id: 'stopped', ...TICKS });
  await raw.message({ type: 'next', id: 'stopped' });
  raw.send({ id: 'stopped', type: 'complete' });
  // Names that aren't any: one of them is a token.
  raw.send({ id: 'query', type: 'subscribe', payload: { query: '{ hello }', operationName: null } });
  await raw.message({ type: 'complete', id: 'query' });
  for (const [id, operationName] of Object.entries({ a: '{ secretField }', b: token })) {
    raw.send({ id, type: 'subscribe', payload: { query: '{ none }', operationName } });
    await raw.message({ type: 'error', id });
  }
  raw.socket.terminate();
  await gateway.socketsGone();

  const spans = await gateway.spans(String(upstream.requests[0]?.headers['x-request-id']));
  const upgrade = named(spans, 'GET /graphql');
  for (const name of ['authenticate', 'entitle']) {
    expect(named(spans, name).parentSpanId).toBe(upgrade.spanId);
  }
  const operations = operationsOf(spans);
  expect(operations.map(({ attributes }) => attributes['tollgate.outcome'])).toEqual([
    'stopped',
    'completed',
    'errored',
    'errored',
  ]);
  for (const { attributes, parentSpanId, status } of operations) {
    expect(attributes).not.toHaveProperty('graphql.operation.name');
    expect([parentSpanId, status]).toEqual([upgrade.spanId, NOT_FAILED]);
  }
  expect(named(spans, 'websocket').attributes).toMatchObject({
    'tollgate.outcome': 'aborted',
    'tollgate.websocket.close_code': 1006,
  });
  for (const secret of [token, 'secretField']) expect(gateway.collector.everything()).not.toContain(secret);
});

test('a caller’s word against sampling holds for its socket and all operations, and goes on', async () => {
  gateway = await startTracedGateway({ UPSTREAM_WS_URL: upstream.url });
  const traceparent = `00-${gateway.traceId}-${CALLER_SPAN}-00`;
  const raw = await openReady(gateway.socketUrl, gateway.auth.issue(), { headers: { traceparent } });
  raw.send({ id: '1', type: 'subscribe', payload: { query: '{ hello }' } });
  await raw.message({ type: 'complete', id: '1' });
  raw.socket.close();
  await gateway.socketsGone();
  expect(upstream.requests[0]?.headers['traceparent']).toMatch(
    new RegExp(`^00-${gateway.traceId}-(?!${CALLER_SPAN})[0-9a-f]{16}-00$`),
  );
  expect(await gateway.spans()).toEqual([]);
  expect(gateway.collector.everything()).not.toContain(gateway.traceId);
});

test('without a collector nothing is recorded, and a trace is passed on', async () => {
  gateway = await startTracedGateway({ UPSTREAM_WS_URL: upstream.url, OTEL_EXPORTER_OTLP_ENDPOINT: '' });
  const raw = await openReady(gateway.socketUrl, gateway.auth.issue(), { headers: gateway.headers });
  raw.send({ id: '1', type: 'subscribe', payload: { query: '{ hello }' } });
  await raw.message({ type: 'complete', id: '1' });
  raw.socket.close();
  await gateway.socketsGone();
  expect(upstream.requests[0]?.headers['traceparent']).toMatch(
    new RegExp(`^00-${gateway.traceId}-(?!${CALLER_SPAN})[0-9a-f]{16}-01$`),
  );
  expect(await gateway.spans()).toEqual([]);
});
