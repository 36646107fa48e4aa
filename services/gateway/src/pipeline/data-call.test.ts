import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { sendRaw } from '../../test/suite/http-client.ts';
import { callsIn } from '../../test/suite/records/recorded-usage.ts';

let gateway: GatewayUnderTest;
const upstreamCalls: string[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  gateway.upstream((req, res) => {
    upstreamCalls.push(`${req.method ?? ''} ${req.url ?? ''}`);
    req.resume();
    res.end('{"data":{}}');
  });
});

afterAll(() => gateway.stop());

test('a call gets a new request id each time, whatever id it brings', async () => {
  const headers = { 'x-request-id': 'the-callers-own' };
  const ids = [await gateway.query({ headers }), await gateway.query({ headers })].map(
    (answer) => answer.headers['x-request-id'],
  );
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});

describe('another method than POST and GET is 405 with Allow, as a GraphQL error', () => {
  test.each(['PUT', 'DELETE', 'OPTIONS', 'PATCH'])('%s', async (method) => {
    const answer = await gateway.query({ method });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('GET, POST');
    expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: 'method_not_allowed' } }] });
  });

  test('HEAD: the same without a body', async () => {
    const answer = await gateway.query({ method: 'HEAD', body: '' });
    expect(answer.status).toBe(405);
    expect(answer.body).toHaveLength(0);
  });
});

test('a GET with a body is refused rather than forwarded without it', async () => {
  const answer = await gateway.query({ method: 'GET', headers: { 'content-length': 2 }, body: '{}' });
  expect(answer.status).toBe(400);
  expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: 'invalid_request' } }] });
});

test('a WebSocket upgrade without a GraphQL subprotocol gets a clear error, not silence', async () => {
  const answer = await sendRaw(
    gateway.graphqlUrl,
    'GET /graphql HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('Sec-WebSocket-Protocol must offer');
});

describe('a request that servers could read in two ways is 400', () => {
  test.each([
    ['two Host headers', 'Host: a\r\nHost: b\r\n'],
    ['a transfer coding but chunked', 'Host: a\r\nTransfer-Encoding: gzip, chunked\r\n'],
    ['a length beside chunks', 'Host: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n'],
    ['two lengths', 'Host: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n'],
    ['a folded header', 'Host: a\r\nX-Folded: a\r\n b\r\n'],
    ['no Host', ''],
  ])('%s', async (_name, head) => {
    const before = upstreamCalls.length;
    const answer = await sendRaw(
      gateway.graphqlUrl,
      `POST /graphql HTTP/1.1\r\n${head}Authorization: Bearer ${gateway.auth.issue()}\r\n\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(upstreamCalls).toHaveLength(before);
  });
});

test('a refused call costs nothing', async () => {
  const before = callsIn(await gateway.usage(0));
  await gateway.query({ token: 'bad' });
  await gateway.query({ method: 'PUT' });
  await gateway.query();
  expect(callsIn(await gateway.usage(before + 1))).toBe(before + 1);
});

test('calls are counted by outcome, and none stays in flight', async () => {
  const count = (outcome: string) => gateway.metric('tollgate_data_calls_total', { outcome });
  const [answered, refused] = await Promise.all([count('answered'), count('unauthorized')]);
  await gateway.query();
  await gateway.query({ token: 'bad' });
  expect(await count('answered')).toBe(answered + 1);
  expect(await count('unauthorized')).toBe(refused + 1);
  expect(await gateway.metric('tollgate_data_calls_in_flight')).toBe(0);
});

test('neither a token nor a query string reaches the log', async () => {
  const token = gateway.auth.issue();
  await gateway.query({ method: 'GET', token, search: `?query={secretField}&token=${token}` });
  gateway.upstream((req) => {
    req.socket.destroy();
  });
  await gateway.query({ method: 'GET', token, search: `?query={secretField}&token=${token}` });
  expect(gateway.process.logs()).toContain('upstream_unreachable');
  expect(gateway.process.logs()).not.toContain('secretField');
  expect(gateway.process.logs()).not.toContain(token.slice(0, 30));
});
