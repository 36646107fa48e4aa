import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { CLIENT_CHANGE_CHANNEL } from '@tollgate/contracts/client-change';
import type { ClientChange } from '@tollgate/contracts/client-change';
import { accessTokenHash } from '@tollgate/credentials/access-token';
import { createLogger } from '@tollgate/log';
import { connectRaw } from '@tollgate/plain-http/raw-client';
import type { RawClient } from '@tollgate/plain-http/raw-client';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';

/** Calls whose heads the process keeps (docs/design/listeners.md): the same bytes, on many connections. */
let gateway: GatewayUnderTest;
let redis: RedisConnection;
let connections: RawClient[] = [];
const body = '{"query":"{ country { name } }"}';

beforeAll(async () => {
  gateway = await startGateway({
    env: { TRUSTED_PROXIES: '127.0.0.9', INTROSPECTION_CACHE_TTL_MS: '30000' },
  });
  redis = openRedis(gateway.redis.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  gateway.upstream((req, res) => {
    const { 'x-account-id': account, 'x-forwarded-for': address } = req.headers;
    req.resume().once('end', () => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ data: { account, address } }));
    });
  });
});

afterAll(async () => {
  redis.disconnect();
  await gateway.stop();
});

afterEach(() => {
  for (const { socket } of connections) socket.destroy();
  connections = [];
});

const headOf = (token: string, fields = '') =>
  `POST /graphql HTTP/1.1\r\nHost: api.example\r\nAuthorization: Bearer ${token}\r\n${fields}` +
  `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n`;

type Connection = { call: (head: string) => Promise<string> };

/** Its calls follow each other. */
function connect(localAddress = '127.0.0.1'): Connection {
  const raw = connectRaw(gateway.graphqlUrl, { localAddress });
  connections.push(raw);
  let read = 0;
  return {
    call: async (head) => {
      raw.socket.write(head + body);
      let answer = '';
      while (!isWhole(answer)) {
        await once(raw.socket, 'data');
        answer = raw.received().slice(read);
      }
      read += answer.length;
      return answer;
    },
  };
}

function isWhole(answer: string): boolean {
  const [head = '', rest] = answer.split('\r\n\r\n');
  return rest !== undefined && rest.length >= Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 1);
}

const dataOf = (answer: string): unknown => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
const statusOf = (answer: string) => Number(answer.slice('HTTP/1.1 '.length).slice(0, 3));

/** On many connections, so that the head is one that the process keeps. */
async function callOften(head: string): Promise<Connection[]> {
  const opened = Array.from({ length: 4 }, () => connect());
  for (const { call } of opened) expect(statusOf(await call(head))).toBe(200);
  return opened;
}

async function publish(change: ClientChange): Promise<void> {
  await redis.publish(CLIENT_CHANGE_CHANNEL, JSON.stringify(change));
}

test('a revoked token is refused on every connection, old and new', async () => {
  const token = gateway.auth.issue();
  const head = headOf(token);
  const opened = await callOften(head);
  gateway.auth.revoke(token);
  const asked = gateway.auth.requests.length;
  await publish({
    change: 'token',
    token_hash: accessTokenHash(token),
    client_id: '00000000-0000-4000-8000-000000000000',
    revocation_epoch: 0,
    source: 'auth',
  });
  await waitFor(async () => statusOf(await connect().call(head)) === 401);
  for (const { call } of [...opened, connect(), connect(), connect()]) {
    expect(statusOf(await call(head))).toBe(401);
  }
  // Known to be dead without auth.
  expect(gateway.auth.requests.length).toBe(asked);
});

test('calls in turns by many tokens are each its own caller’s', async () => {
  const accounts = [101, 102, 103, 104, 105];
  const heads = accounts.map((accountId) => headOf(gateway.auth.issue({ accountId })));
  const opened = Array.from({ length: 3 }, () => connect());
  for (let round = 0; round < 6; round += 1) {
    await Promise.all(
      opened.map(async ({ call }, offset) => {
        for (let step = 0; step < accounts.length; step += 1) {
          const at = (round + offset + step) % accounts.length;
          const answer = await call(heads[at] ?? '');
          expect(dataOf(answer)).toMatchObject({ data: { account: String(accounts[at]) } });
        }
      }),
    );
  }
});

test('one head from two addresses, one of them a proxy’s, tells each call’s own', async () => {
  const head = headOf(gateway.auth.issue(), 'X-Forwarded-For: 192.0.2.7\r\n');
  const [caller, other, proxy] = [connect('127.0.0.2'), connect('127.0.0.3'), connect('127.0.0.9')];
  for (let round = 0; round < 4; round += 1) {
    expect(dataOf(await caller.call(head))).toMatchObject({ data: { address: '127.0.0.2' } });
    expect(dataOf(await other.call(head))).toMatchObject({ data: { address: '127.0.0.3' } });
    expect(dataOf(await proxy.call(head))).toMatchObject({ data: { address: '192.0.2.7, 127.0.0.9' } });
  }
});
