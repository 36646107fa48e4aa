import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { freePort } from '@tollgate/stack/ports';
import { startRawPeer } from '@tollgate/plain-http/raw-peer';
import type { RawPeer } from '@tollgate/plain-http/raw-peer';
import { startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';
import { documentOf } from '../../../../test/suite/http-client.ts';

/** An upstream that does what no HTTP server would, at the moments at which connections are lost. */
let gateway: GatewayUnderTest;
let upstream: RawPeer;

afterEach(async () => {
  await gateway.stop();
  await upstream.close();
});

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"data":{}}';

/** Starts an upstream and a gateway before it; `onRequest` is told each request and its number on its connection. */
async function start(onRequest: (socket: Socket, number: number) => void): Promise<Socket[]> {
  const connections: Socket[] = [];
  upstream = await startRawPeer((socket) => {
    connections.push(socket);
    let number = 0;
    socket.on('data', (bytes) => {
      if (!/^(?:POST|GET) /.test(bytes.toString('latin1'))) return;
      number += 1;
      onRequest(socket, number);
    });
  });
  gateway = await startGateway({ env: { UPSTREAM_URL: `${upstream.origin}/graphql` } });
  return connections;
}

test('a connection that the upstream closed while it was idle: the next call gets a fresh one', async () => {
  const connections = await start((socket) => socket.end(ANSWER));
  for (const calls of [1, 2, 3]) {
    expect((await gateway.query()).status).toBe(200);
    expect(connections).toHaveLength(calls);
    const last = connections[calls - 1];
    if (last?.closed === false) await once(last, 'close');
  }
});

test.each(['POST', 'GET'])(
  'a kept connection that is cut as a %s comes: 502, and it is not sent a second time',
  async (method) => {
    let requests = 0;
    const connections = await start((socket, number) => {
      requests += 1;
      if (number === 1) socket.write(ANSWER);
      else socket.resetAndDestroy();
    });
    expect((await gateway.query()).status).toBe(200);
    const answer = await gateway.query({ method, search: method === 'GET' ? '?query={a}' : '' });
    expect(answer.status).toBe(502);
    expect(requests).toBe(2);
    expect(connections).toHaveLength(1);
    expect(await gateway.metric('tollgate_upstream_retries_total')).toBe(0);
  },
);

test('a connection that is reset at accept: 502 for a call that may have been sent; nobody waits', async () => {
  upstream = await startRawPeer((socket) => socket.resetAndDestroy());
  gateway = await startGateway({ env: { UPSTREAM_URL: `${upstream.origin}/graphql` } });
  const answer = await gateway.query();
  expect(answer.status).toBe(502);
  expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: 'upstream_unreachable' } }] });
});

test('the only address refuses: one more attempt, which may meet another server behind it, then 502', async () => {
  upstream = await startRawPeer(() => undefined);
  gateway = await startGateway({ env: { UPSTREAM_URL: `http://127.0.0.1:${String(await freePort())}/` } });
  expect((await gateway.query()).status).toBe(502);
  expect(await gateway.metric('tollgate_upstream_failures_total', { kind: 'connect' })).toBe(2);
  expect(await gateway.metric('tollgate_upstream_retries_total')).toBe(1);
});

test('a refusal before the whole body is read, and the close behind it: the caller gets it, each time', async () => {
  const refusal = 'HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 9\r\n\r\ntoo large';
  await start((socket) => {
    // With bytes unread, the close is a reset.
    socket.pause().write(refusal, () => socket.destroy());
  });
  for (let call = 0; call < 15; call += 1) {
    const { status, body } = await gateway.query({ body: documentOf(1_000_000) });
    expect([status, String(body)]).toEqual([413, 'too large']);
  }
  expect(await gateway.metric('tollgate_upstream_failures_total')).toBe(0);
  expect(await gateway.metric('tollgate_upstream_ejections_total')).toBe(0);
});
