import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, jest, test } from '@jest/globals';
import express from 'express';
import { z } from 'zod';
import { createLogger } from '@tollgate/log';
import { Problem } from '../problem/problem.ts';
import { problemHandler } from '../problem/error-handler.ts';
import { createPrivateApi } from './private-api-client.ts';
import type { PrivateApi } from './private-api-client.ts';
import {
  basicAuthorization,
  createServiceAuthentication,
  requireServiceCredential,
} from './private-api-credential.ts';

const credential = { id: 'gateway', secret: 'a-secret-of-sixteen-or-more' };
const TIMEOUT_MS = 500;
const schema = z.object({ ok: z.literal(true) });
let server: Server | undefined;
let api: PrivateApi | undefined;

afterEach(async () => {
  jest.useRealTimers();
  await api?.close();
  api = undefined;
  server?.closeAllConnections();
  server?.close();
});

async function callerOf(handler: RequestListener, secret = credential.secret): Promise<PrivateApi> {
  server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  api = createPrivateApi({
    baseUrl,
    credential: { ...credential, secret },
    timeoutMs: TIMEOUT_MS,
    connectionMaxAgeMs: 60_000,
    plainHttp: true,
  });
  return api;
}

function guarded(): RequestListener {
  const app = express();
  app.use(requireServiceCredential([{ id: 'other', secret: 'another-secret-of-sixteen' }, credential]));
  app.get('/thing', (_req, res) => res.json({ ok: true }));
  app.use(problemHandler(createLogger('test', 'silent')));
  return app;
}

const unavailable = expect.objectContaining({ code: 'service_unavailable', status: 503 });

test('a known credential passes', async () => {
  expect(await (await callerOf(guarded())).get('/thing', schema)).toEqual({ ok: true });
});

test('another secret is refused with a Basic challenge', async () => {
  const caller = await callerOf(guarded(), 'a-wrong-secret-of-sixteen');
  await expect(caller.get('/thing', schema)).rejects.toEqual(unavailable);
  const bare = await fetch(
    `http://127.0.0.1:${String((server?.address() as AddressInfo | undefined)?.port)}/thing`,
  );
  expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([
    401,
    'Basic realm="tollgate-private"',
  ]);
});

test('a credential may be form-encoded, as OAuth’s clients send it, or plain, as curl does', async () => {
  const odd = { id: 'a.b-c_d', secret: 'plus+percent%25colon:slash/=' };
  const app = express();
  app.use(requireServiceCredential([odd]));
  app.get('/thing', (_req, res) => res.json({ ok: true }));
  app.use(problemHandler(createLogger('test', 'silent')));
  await callerOf(app);
  const url = `http://127.0.0.1:${String((server?.address() as AddressInfo | undefined)?.port)}/thing`;
  const statusOf = async (pair: string) => {
    const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    return (await fetch(url, { headers: { authorization } })).status;
  };
  expect(await statusOf(`${odd.id}:${odd.secret}`)).toBe(200);
  expect(await statusOf(`a%2Eb%2Dc%5Fd:${encodeURIComponent(odd.secret)}`)).toBe(200);
  expect(await statusOf(`${odd.id}:${encodeURIComponent(encodeURIComponent(odd.secret))}`)).toBe(401);
});

test('a header that begins as an accepted one does, or ends before it, is none', () => {
  const short = { id: 'a', secret: 'b' };
  const callerFrom = createServiceAuthentication([short, credential]);
  for (const accepted of [short, credential]) {
    const header = basicAuthorization(accepted);
    expect(callerFrom(header)).toBe(accepted.id);
    for (const other of [
      '',
      header.slice(0, -4),
      `${header}AAAA`,
      `${header}\0`,
      `${header}\0\0`,
      `${header}é`,
    ]) {
      expect(() => callerFrom(other)).toThrow(Problem);
    }
  }
  expect(() => createServiceAuthentication([])('')).toThrow(Problem);
});

test('404 is null', async () => {
  const caller = await callerOf((_req, res) => res.writeHead(404).end('{}'));
  expect(await caller.get('/thing', schema)).toBeNull();
});

test('postJson sends JSON, and takes nothing but 204 for done', async () => {
  const received: unknown[] = [];
  const caller = await callerOf((req, res) => {
    void text(req).then((body) => {
      received.push([req.method, req.url, req.headers['content-type'], JSON.parse(body)]);
      res.writeHead(req.url === '/done' ? 204 : 200).end();
    });
  });
  await caller.postJson('/done', { uses: [] });
  await expect(caller.postJson('/other', {})).rejects.toEqual(unavailable);
  expect(received).toEqual([
    ['POST', '/done', 'application/json', { uses: [] }],
    ['POST', '/other', 'application/json', {}],
  ]);
});

test('a request that waits for a connection fails in time, and is not sent later', async () => {
  let requests = 0;
  let answers = false;
  const caller = await callerOf((_req, res) => {
    requests += 1;
    if (answers) res.end('{"ok":true}');
  });
  // On a busy machine real timers are set some milliseconds apart, in which a connection gets free for those that wait.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  const calling = Promise.allSettled(Array.from({ length: 40 }, () => caller.get('/thing', schema)));
  while (requests < 32) await new Promise((resolve) => setImmediate(resolve));
  jest.advanceTimersByTime(TIMEOUT_MS);
  jest.useRealTimers();
  for (const call of await calling) expect(call).toEqual({ status: 'rejected', reason: unavailable });
  expect(requests).toBe(32);
  answers = true;
  expect(await caller.get('/thing', schema)).toEqual({ ok: true });
  expect(requests).toBe(33);
});

test('a 500, an answer that breaks the contract, silence and a closed port are service_unavailable', async () => {
  const answers: RequestListener[] = [
    (_req, res) => res.writeHead(500).end('{}'),
    (_req, res) => res.end('{"ok":false}'),
    (_req, res) => res.end('not json'),
    () => undefined,
    (req) => req.socket.destroy(),
  ];
  for (const answer of answers) {
    const caller = await callerOf(answer);
    await expect(caller.get('/thing', schema)).rejects.toEqual(unavailable);
    server?.closeAllConnections();
    server?.close();
    await caller.close();
  }
  const caller = createPrivateApi({
    baseUrl: 'http://127.0.0.1:9',
    credential,
    timeoutMs: 500,
    connectionMaxAgeMs: 60_000,
    plainHttp: true,
  });
  await expect(caller.get('/thing', schema)).rejects.toEqual(unavailable);
  await caller.close();
  api = undefined;
});
