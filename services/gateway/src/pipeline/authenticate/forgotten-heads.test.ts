import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { accessTokenHash, newAccessToken } from '@tollgate/credentials/access-token';
import { createLogger } from '@tollgate/log';
import type { HttpHandler } from '@tollgate/plain-http/message';
import { connectRaw } from '@tollgate/plain-http/raw-client';
import type { RawClient } from '@tollgate/plain-http/raw-client';
import { openFastPath } from '@tollgate/plain-http/server';
import { activeToken } from '@tollgate/testbed/active-token';
import { Registry } from 'prom-client';
import { openAuthenticate } from './open-authenticate.ts';

/** Which heads of calls are kept, and what drops them; with auth's answers made up here. */
let opened: ReturnType<typeof openAuthenticate>;
let server: Server;
let client: RawClient;
const clientId = '5f0c7a52-1111-4222-8333-944455556666';
const TOKENS = { prefix: 'tg', ttlMs: 30_000 };
let isActive: boolean;

beforeEach(async () => {
  isActive = true;
  const config = {
    TOKEN_PREFIX: TOKENS.prefix,
    INTROSPECTION_CACHE_TTL_MS: TOKENS.ttlMs,
    INTROSPECTION_NEGATIVE_CACHE_TTL_MS: TOKENS.ttlMs,
    INTROSPECTION_CACHE_MAX_ENTRIES: 100,
  };
  const auth = {
    postForm: () => Promise.resolve(isActive ? activeToken({ clientId }) : { active: false }),
  };
  const context = { config, logger: createLogger('suite', 'silent'), registry: new Registry() };
  opened = openAuthenticate(
    context as unknown as Parameters<typeof openAuthenticate>[0],
    auth as unknown as Parameters<typeof openAuthenticate>[1],
  );
  opened.channel.cache?.trustUntil(Infinity);
  const handler: HttpHandler = (req, res) => {
    void Promise.resolve()
      .then(() => opened.authenticate(req, 'request'))
      .then(
        () => 200,
        () => 401,
      )
      .then((status) => {
        res.writeHead(status, ['Content-Length', '0']);
        res.end();
      });
  };
  server = createServer();
  server.removeAllListeners('connection');
  openFastPath(server, {
    limits: { maxUrlBytes: 100, maxHeaderBytes: 8_192, maxHeaderCount: 20, maxBodyBytes: 100 },
    handlerOf: () => handler,
    recentHeads: opened.recentHeads,
    onRequest: () => undefined,
    headersTimeoutMs: 60_000,
    keepAliveTimeoutMs: 60_000,
    serveByNode: (socket: Socket) => socket.destroy(),
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  client = connectRaw(server);
});

afterEach(() => {
  opened.tokenWatch.close();
  client.socket.destroy();
  server.close();
});

const newToken = () => newAccessToken(TOKENS.prefix, clientId);

const headOf = (token: string) => `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}`;

/** Another head in between, so that none repeats the connection's last one. */
async function call(token: string, times = 1): Promise<string[]> {
  const statuses: string[] = [];
  for (let time = 0; time < times; time += 1) {
    for (const head of [headOf(token), `GET /${String(Math.random())} HTTP/1.1\r\nHost: a`]) {
      client.socket.write(`${head}\r\n\r\n`);
      const [answer] = (await once(client.socket, 'data')) as [string];
      if (head === headOf(token)) statuses.push(answer.slice(9, 12));
    }
  }
  return statuses;
}

const isKept = (token: string) => opened.recentHeads.find(headOf(token)) !== undefined;

test('a head is kept from its second call on, if its token is active', async () => {
  const token = newToken();
  expect(await call(token)).toEqual(['200']);
  expect(isKept(token)).toBe(false);
  await call(token);
  expect(isKept(token)).toBe(true);
});

test('nothing is kept of callers without an active token, nor of heads that come once', async () => {
  isActive = false;
  const dead = newToken();
  expect(await call(dead, 5)).toEqual(['401', '401', '401', '401', '401']);
  expect(isKept(dead)).toBe(false);
  expect(await call('not-a-token', 5)).toEqual(['401', '401', '401', '401', '401']);
  expect(isKept('not-a-token')).toBe(false);
});

test.each([
  ['a revocation of its token', (token: string) => ({ change: 'token', token_hash: accessTokenHash(token) })],
  ['a change of its application', () => ({ change: 'application' })],
  ['a change that can’t be read', () => ({ change: 'unknown' })],
])('%s drops it, and the token stays refused', async (_what, changeOf) => {
  const [token, other] = [newToken(), newToken()];
  await call(token, 3);
  await call(other, 3);
  expect([isKept(token), isKept(other)]).toEqual([true, true]);
  isActive = false;
  const change = changeOf(token);
  opened.channel.onMessage(
    JSON.stringify({ client_id: clientId, revocation_epoch: 1, source: 'auth', ...change }),
  );
  expect([isKept(token), isKept(other)]).toEqual([false, change.change === 'token']);
  expect(await call(token, 3)).toEqual(['401', '401', '401']);
  expect(isKept(token)).toBe(false);
});

test('while revocations may be missed, nothing is kept', async () => {
  const token = newToken();
  await call(token, 3);
  opened.channel.cache?.onDropAll();
  opened.channel.cache?.trustUntil(0);
  expect(isKept(token)).toBe(false);
  expect(await call(token, 3)).toEqual(['200', '200', '200']);
  expect(isKept(token)).toBe(false);
});
