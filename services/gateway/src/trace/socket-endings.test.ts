import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { accessTokenHash } from '@tollgate/credentials/access-token';
import { CLIENT_CHANGE_CHANNEL } from '@tollgate/contracts/client-change';
import type { ClientChange } from '@tollgate/contracts/client-change';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import { openReady, refusedUpgrade } from '../../test/suite/raw-socket.ts';
import { say, startScriptedUpstream } from '../../test/suite/upstreams/scripted-upstream.ts';
import { startServer } from '../../test/suite/upstreams/server.ts';
import {
  FAILED,
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

test('an upstream that breaks off is an error of the operation and of the socket', async () => {
  const broken = await startScriptedUpstream();
  broken.onMessage(({ type }, socket) => {
    if (type === 'connection_init') say(socket, { type: 'connection_ack' });
    if (type === 'subscribe') socket.terminate();
  });
  gateway = await startTracedGateway({ UPSTREAM_WS_URL: broken.url });
  const raw = await openReady(gateway.socketUrl, gateway.auth.issue(), { headers: gateway.headers });
  raw.send({ id: '1', ...TICKS });
  expect((await raw.closed).code).toBe(1012);
  const spans = await gateway.spans();
  await broken.close();
  const end = { 'tollgate.outcome': 'upstream_closed', 'tollgate.websocket.close_code': 1012 };
  for (const name of ['GraphQL Operation', 'websocket']) {
    expect(named(spans, name)).toMatchObject({ status: FAILED, attributes: end });
  }
  expect(named(spans, 'forward')).toMatchObject({
    status: FAILED,
    attributes: { 'error.type': 'upstream_closed' },
  });
});

test('an upstream that is gone: each attempt is an error, and so are the operation and the socket', async () => {
  const gone = await startServer(() => undefined);
  await gone.close();
  gateway = await startTracedGateway({ UPSTREAM_WS_URL: `${gone.url.replace('http', 'ws')}/graphql` });
  const raw = await openReady(gateway.socketUrl, gateway.auth.issue(), { headers: gateway.headers });
  raw.send({ id: '1', ...TICKS });
  expect((await raw.closed).code).toBe(1013);
  const spans = await gateway.spans();
  const attempts = spans.filter(({ name }) => name === 'connect');
  expect(attempts.map(({ status }) => status)).toEqual([FAILED, FAILED]);
  expect(attempts.map(({ attributes }) => attributes['http.request.resend_count'])).toEqual([undefined, 1]);
  expect(attempts[0]?.attributes).toMatchObject({ 'error.type': 'connect' });
  const operation = named(spans, 'GraphQL Operation');
  expect(operation).toMatchObject({ status: FAILED, attributes: { 'error.type': 'upstream_unreachable' } });
  expect(operation.attributes).not.toHaveProperty('tollgate.websocket.close_code');
  expect(named(spans, 'websocket')).toMatchObject({
    status: FAILED,
    attributes: { 'tollgate.outcome': 'upstream_unreachable', 'tollgate.websocket.close_code': 1013 },
  });
});

test('a token that is revoked ends operation and socket as unauthorized, with 4401, and is no error', async () => {
  gateway = await startTracedGateway({ UPSTREAM_WS_URL: upstream.url });
  const token = gateway.auth.issue();
  const raw = await openReady(gateway.socketUrl, token, { headers: gateway.headers });
  raw.send({ id: '1', ...TICKS });
  await raw.message({ type: 'next', id: '1' });
  gateway.auth.revoke(token);
  const redis = openRedis(gateway.redis.url, createLogger('test', 'silent'));
  await waitFor(() => redis.status === 'ready');
  const revocation: ClientChange = {
    change: 'token',
    token_hash: accessTokenHash(token),
    client_id: '00000000-0000-4000-8000-000000000000',
    revocation_epoch: 0,
    source: 'auth',
  };
  await redis.publish(CLIENT_CHANGE_CHANNEL, JSON.stringify(revocation));
  redis.disconnect();
  expect((await raw.closed).code).toBe(4401);
  const spans = await gateway.spans();
  for (const name of ['GraphQL Operation', 'websocket']) {
    expect(named(spans, name)).toMatchObject({
      status: NOT_FAILED,
      attributes: { 'tollgate.outcome': 'unauthorized', 'tollgate.websocket.close_code': 4401 },
    });
  }
});

test('a shutdown ends thousands of operations with 1012, and all of their spans are sent before the exit', async () => {
  const quiet = await startScriptedUpstream();
  quiet.onMessage(({ type }, socket) => {
    if (type === 'connection_init') say(socket, { type: 'connection_ack' });
  });
  gateway = await startTracedGateway({ UPSTREAM_WS_URL: quiet.url, WEBSOCKET_MAX_OPERATIONS: '300' });
  const [sockets, each] = [8, 300];
  const token = gateway.auth.issue();
  for (let index = 0; index < sockets; index += 1) {
    const raw = await openReady(gateway.socketUrl, token, { headers: gateway.headers });
    raw.send(...Array.from({ length: each }, (_, id) => ({ id: String(id), ...TICKS })));
  }
  const subscribed = () => quiet.received.filter(({ type }) => type === 'subscribe').length;
  await waitFor(() => subscribed() === sockets * each);
  expect((await gateway.process.stop()).code).toBe(0);
  const spans = gateway.collector.spansOf(gateway.traceId);
  await quiet.close();
  const end = { 'tollgate.outcome': 'service_restart', 'tollgate.websocket.close_code': 1012 };
  const ended = spans.filter(({ attributes }) => attributes['tollgate.outcome'] === 'service_restart');
  expect(operationsOf(ended)).toHaveLength(sockets * each);
  expect(ended.filter(({ name }) => name === 'websocket')).toHaveLength(sockets);
  for (const { attributes, status } of ended) {
    expect(attributes).toMatchObject(end);
    expect(status).toEqual(NOT_FAILED);
  }
});

test('a shutdown while the upstream has not acknowledged leaves its connection, which is no error', async () => {
  const silent = await startScriptedUpstream();
  gateway = await startTracedGateway({ UPSTREAM_WS_URL: silent.url });
  const raw = await openReady(gateway.socketUrl, gateway.auth.issue(), { headers: gateway.headers });
  raw.send({ id: '1', ...TICKS });
  await waitFor(() => silent.received.length > 0);
  const spans = await gateway.spans();
  await silent.close();
  expect(named(spans, 'connect')).toMatchObject({
    status: NOT_FAILED,
    attributes: { 'tollgate.outcome': 'left' },
  });
  expect(named(spans, 'GraphQL Operation').attributes['tollgate.outcome']).toBe('service_restart');
});

test('an upgrade that is refused is a span with its status, and nothing else', async () => {
  gateway = await startTracedGateway({ UPSTREAM_WS_URL: upstream.url });
  const dead = gateway.auth.issue();
  gateway.auth.revoke(dead);
  const refusal = await refusedUpgrade(gateway.socketUrl, {
    headers: { ...gateway.headers, authorization: `Bearer ${dead}` },
  });
  expect(refusal.status).toBe(401);
  const spans = await gateway.spans();
  expect(spans.map(({ name }) => name)).toEqual(['authenticate', 'GET /graphql']);
  expect(named(spans, 'GET /graphql')).toMatchObject({
    status: NOT_FAILED,
    attributes: { 'http.response.status_code': 401, 'tollgate.outcome': 'unauthorized' },
  });
});

test('an upgrade that a shutdown cuts before its answer is aborted', async () => {
  const asked = Promise.withResolvers<undefined>();
  const auth = await startServer(() => {
    asked.resolve(undefined);
  });
  gateway = await startTracedGateway({
    UPSTREAM_WS_URL: upstream.url,
    AUTH_PRIVATE_URL: auth.url,
    SHUTDOWN_TIMEOUT_MS: '1000',
  });
  const authorization = `Bearer ${gateway.auth.issue()}`;
  const opening = new WebSocket(gateway.socketUrl, ['graphql-transport-ws'], {
    headers: { ...gateway.headers, authorization },
  });
  opening.on('error', () => undefined);
  await asked.promise;
  const spans = await gateway.spans();
  await auth.close();
  expect(named(spans, 'GET /graphql')).toMatchObject({ attributes: { 'tollgate.outcome': 'aborted' } });
});
