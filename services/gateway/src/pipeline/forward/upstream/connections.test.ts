import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startRawPeer } from '@tollgate/plain-http/raw-peer';
import { startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';
import { call } from '../../../../test/suite/http-client.ts';
import { startServer } from '../../../../test/suite/upstreams/server.ts';
import { startSilentAddress } from '../../../../test/suite/upstreams/silent-address.ts';
import { startUpstreamServer } from '../../../../test/suite/upstreams/upstream-server.ts';

let gateway: GatewayUnderTest;
let ends: (() => Promise<void>)[];

beforeEach(() => {
  ends = [];
});

afterEach(async () => {
  await gateway.stop();
  for (const end of ends) await end();
});

describe('an address that doesn’t answer', () => {
  test('costs the caller the time to connect once, where there is no other', async () => {
    const silent = await startSilentAddress();
    ends.push(silent.close);
    gateway = await startGateway({ env: { UPSTREAM_URL: silent.url, UPSTREAM_CONNECT_TIMEOUT_MS: '500' } });
    const answer = await gateway.query();
    expect(answer.status).toBe(502);
    expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: 'upstream_unreachable' } }] });
    expect(await gateway.metric('tollgate_upstream_failures_total', { kind: 'connect' })).toBe(1);
    expect(await gateway.metric('tollgate_upstream_retries_total')).toBe(0);
  });

  test('costs no answer, where there is another one', async () => {
    const silent = await startSilentAddress();
    const other = await startUpstreamServer('/graphql');
    ends.push(silent.close, other.goAway);
    const env = { UPSTREAM_URL: `${silent.url} ${other.url}`, UPSTREAM_CONNECT_TIMEOUT_MS: '500' };
    gateway = await startGateway({ env });
    const statuses = [(await gateway.query()).status, (await gateway.query()).status];
    expect(statuses).toEqual([200, 200]);
    expect(other.requests).toHaveLength(2);
    expect(await gateway.metric('tollgate_upstream_retries_total')).toBe(1);
  });
});

describe('a connection that has reached its age', () => {
  test('to the upstream is replaced under steady load, without a failed call', async () => {
    const connections = new Set<unknown>();
    const upstream = await startServer((req, res) => {
      connections.add(req.socket);
      req.resume().once('end', () => res.end('{"data":{}}'));
    });
    ends.push(upstream.close);
    gateway = await startGateway({ env: { UPSTREAM_URL: upstream.url, CONNECTION_MAX_AGE_MS: '100' } });
    while (connections.size < 4) expect((await gateway.query()).status).toBe(200);
    expect(await gateway.metric('tollgate_upstream_failures_total')).toBe(0);
  });

  test('to account and auth is replaced, on plain routes', async () => {
    const connections = new Set<unknown>();
    const standIn = await startServer((req, res) => {
      connections.add(req.socket);
      res.end('ok');
    });
    ends.push(standIn.close);
    gateway = await startGateway({
      env: { CONNECTION_MAX_AGE_MS: '100' },
      publicUrls: { auth: standIn.url, account: standIn.url },
    });
    while (connections.size < 4) {
      const answer = await call(`${gateway.process.publicUrl}/user/x`, { method: 'GET' });
      expect(answer.status).toBe(200);
    }
  });
});

test('an unsolicited 100 Continue of the upstream is dropped', async () => {
  const upstream = await startRawPeer((socket) => {
    socket.on('data', (bytes) => {
      if (!bytes.includes('POST')) return;
      socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      setImmediate(() => socket.write('HTTP/1.1 200 OK\r\nX-Points: 3\r\nContent-Length: 2\r\n\r\n{}'));
    });
  });
  ends.push(upstream.close);
  gateway = await startGateway({ env: { UPSTREAM_URL: upstream.origin } });
  for (let calls = 0; calls < 2; calls += 1) {
    const { status, headers, body } = await gateway.query();
    expect([status, headers['x-points-cost'], body.toString()]).toEqual([200, '3', '{}']);
  }
});
