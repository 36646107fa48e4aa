import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from './log.ts';
import { newRequestId } from './request-id.ts';
import { createRequestLog, requestLog } from './request-log.ts';

const lines: string[] = [];
let server: Server;
let base = '';

beforeAll(async () => {
  const middleware = requestLog(createLogger('test', 'info', { write: (line) => void lines.push(line) }));
  server = createServer((req, res) => {
    middleware(req, res);
    res.statusCode = req.url?.startsWith('/broken') === true ? 503 : 200;
    res.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends a request and returns the answer's request id and the one line that was logged for it. */
async function ask(path: string, headers: Record<string, string> = {}) {
  lines.length = 0;
  const response = await fetch(base + path, { headers });
  const deadline = performance.now() + 5_000;
  while (lines.length === 0 && performance.now() < deadline) await new Promise(setImmediate);
  expect(lines).toHaveLength(1);
  return { id: response.headers.get('x-request-id'), line: lines[0] ?? '' };
}

test('a request is logged once: method, path, status, duration and its id', async () => {
  const { id, line } = await ask('/oauth2/token');
  expect(JSON.parse(line)).toMatchObject({
    level: 'info',
    request_id: id,
    req: { method: 'GET', path: '/oauth2/token' },
    res: { status: 200 },
    duration_ms: expect.any(Number),
  });
  const broken = JSON.parse((await ask('/broken')).line) as Record<string, unknown>;
  expect(broken).toMatchObject({ level: 'error', res: { status: 503 }, msg: 'request errored' });
  expect(Object.keys(broken)).not.toContain('err');
});

test('where what went well is only of use for debugging, the rest is logged as ever', async () => {
  const logged: string[] = [];
  const log = createRequestLog(
    createLogger('test', 'info', { write: (line) => void logged.push(line) }),
    'debug',
  );
  const quiet = createServer((req, res) => {
    log(req, res, newRequestId());
    res.statusCode = Number(req.url?.slice(1));
    res.end();
  }).listen(0, '127.0.0.1');
  await once(quiet, 'listening');
  const { port } = quiet.address() as AddressInfo;
  for (const status of [200, 204, 401, 503])
    await fetch(`http://127.0.0.1:${String(port)}/${String(status)}`);
  quiet.close();
  quiet.closeAllConnections();
  await once(quiet, 'close');
  const statuses = logged
    .join('')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { res: unknown }).res);
  expect(statuses).toEqual([{ status: 401 }, { status: 503 }]);
});

test('neither the query nor a header is logged', async () => {
  const { line } = await ask('/graphql?token=hunter2', {
    authorization: 'Bearer hunter2',
    cookie: 'a=hunter2',
  });
  expect(line).not.toContain('hunter2');
});

test('a well-formed request id passes through', async () => {
  const given = newRequestId();
  const { id, line } = await ask('/', { 'x-request-id': given });
  expect(id).toBe(given);
  expect(JSON.parse(line)).toMatchObject({ request_id: given });
});

test('a malformed request id is replaced', async () => {
  for (const given of ['short', 'x'.repeat(65), 'with space in it', '{"injected":"json"}', 'ünïcode-id']) {
    const { id, line } = await ask('/', { 'x-request-id': Buffer.from(given).toString('latin1') });
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(line).not.toContain(given);
  }
});

test('a path is logged up to a bound, and no part of a token in it', async () => {
  const secret = `${'S'.repeat(22)}_${'T'.repeat(49)}`;
  const { line } = await ask(`/${'x'.repeat(210)}/tg_${secret}/${'y'.repeat(4_000)}?token=hunter2`);
  const { req } = JSON.parse(line) as { req: { path: string } };
  expect(req.path.length).toBeLessThanOrEqual(257);
  expect(req.path).toMatch(/^\/x{210}\/tg_\[token\]\/y+…$/);
  expect(line).not.toMatch(/T{8}|hunter2/);
});
