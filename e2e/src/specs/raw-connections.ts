import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, obtainToken, tokenFields } from '../caller.ts';
import type { Demo, Stack } from '../stack/stack.ts';

const QUERY = JSON.stringify({ query: '{ country(code: "NO") { name } }' });
const TIME_LIMIT_MS = 10_000;

/** A connection, and all that has come back on it. */
type Raw = { socket: Socket; received: () => string; closed: Promise<unknown> };

let open: Socket[] = [];

function connectTo(baseUrl: string): Raw {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  open.push(socket);
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  socket.on('error', () => undefined);
  return { socket, received: () => received, closed: once(socket, 'close') };
}

async function answersTo(baseUrl: string, bytes: string, end: 'half-close' | 'keep'): Promise<string> {
  const { socket, received, closed } = connectTo(baseUrl);
  if (end === 'half-close') socket.end(bytes);
  else socket.write(bytes);
  await closed;
  return received();
}

const statusesIn = (answers: string) =>
  [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

const get = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;

const post = (path: string, fields: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${fields}Content-Length: ${String(body.length)}\r\n\r\n${body}`;

const chunkedPost = (path: string, fields: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${fields}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** A metric of the gateway, with its labels, by sample. */
async function gatewayMetrics({ private: { gateway_url } }: Demo, name: string): Promise<[string, number][]> {
  const text = await (await fetch(`${gateway_url}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .map((line) => [line, Number(line.slice(line.lastIndexOf(' ') + 1))]);
}

const sumOf = async (demo: Demo, name: string) =>
  (await gatewayMetrics(demo, name)).reduce((sum, [, value]) => sum + value, 0);

/** What callers and the upstream do with their connections. Over processes: a forwarded port changes how they end. */
export function rawConnections(stack: () => Stack): void {
  afterEach(() => {
    for (const socket of open) socket.destroy();
    open = [];
  });

  describe('a caller that half-closes after its request', () => {
    test('gets the answer, from each service, on the fast path and without it', async () => {
      const { demo } = stack();
      const bearer = `Authorization: Bearer ${await obtainToken(demo, demo.application)}\r\n`;
      const json = `${bearer}Content-Type: application/json\r\n`;
      const form = new URLSearchParams(tokenFields(demo.application)).toString();
      const formFields = 'Content-Type: application/x-www-form-urlencoded\r\n';
      const requests: [string, string][] = [
        [demo.streaming_url, post('/graphql', json, QUERY)],
        [demo.streaming_url, chunkedPost('/graphql', json, QUERY)],
        [demo.streaming_url, get('/api/usage', bearer)],
        [demo.auth_url, post('/oauth2/token', formFields, form)],
        [demo.auth_url, chunkedPost('/oauth2/token', formFields, form)],
        [demo.account_url, get('/api/usage', bearer)],
      ];
      for (const [url, request] of requests) {
        expect(statusesIn(await answersTo(url, request, 'half-close'))).toEqual([200]);
        expect(statusesIn(await answersTo(url, request + request, 'half-close'))).toEqual([200, 200]);
      }
    });
  });

  describe('a connection whose next bytes are doubtful', () => {
    const upgrade = 'Connection: upgrade\r\nUpgrade: foo\r\n';
    const hidden = get('/api/usage');

    test('ends with its answer', async () => {
      const { demo } = stack();
      const next = post('/oauth2/token', '', hidden);
      for (const url of [demo.streaming_url, demo.auth_url, demo.account_url]) {
        for (const first of [get('/no/such/path', upgrade), post('/no/such/path', upgrade, hidden)]) {
          expect(statusesIn(await answersTo(url, first + next, 'keep'))).toEqual([404]);
        }
        const old = chunkedPost('/no/such/path', 'Connection: keep-alive\r\n', hidden).replace('1.1', '1.0');
        expect(statusesIn(await answersTo(url, old + next, 'keep'))).toEqual([404]);
        expect(statusesIn(await answersTo(url, hidden.replace('1.1', '2.0'), 'keep'))).toEqual([505]);
      }
    });
  });

  describe('a connection that pipelines without end', () => {
    test('takes neither memory nor the others’ place', async () => {
      const { demo } = stack();
      const residentBytes = () => sumOf(demo, 'process_resident_memory_bytes');
      const page = get('/user/sign-in');
      expect(statusesIn(await answersTo(demo.streaming_url, page, 'half-close'))).toEqual([200]);
      const before = await residentBytes();
      const count = Math.ceil(3_100_000 / page.length);
      const flood = connectTo(demo.streaming_url);
      flood.socket.write(page.repeat(count));
      const answered = () => statusesIn(flood.received()).length;
      await eventually(
        () => Promise.resolve(answered()),
        (seen) => seen > 10,
        TIME_LIMIT_MS,
      );
      for (let other = 0; other < 10; other += 1) {
        expect(statusesIn(await answersTo(demo.streaming_url, page, 'half-close'))).toEqual([200]);
      }
      // It was 600 MiB more, and the others came last.
      expect((await residentBytes()) - before).toBeLessThan(200 * 2 ** 20);
      expect(answered()).toBeLessThan(count / 4);
    });
  });

  describe('an upstream that answers before it has read the body', () => {
    test('is heard, each time, and not taken for ill', async () => {
      const { demo, kill, start } = stack();
      const token = await obtainToken(demo, demo.application);
      const [first] = await gatewayMetrics(demo, 'tollgate_upstream_in_flight');
      const port = Number(/:(\d+)"/.exec(first?.[0] ?? '')?.[1]);
      await kill('upstream');
      const refusal = 'HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}';
      const early = createServer((socket) => {
        socket
          .on('error', () => undefined)
          .once('data', () => {
            // With bytes unread, the close is a reset.
            socket.pause().write(refusal, () => socket.destroy());
          });
      });
      early.listen(port, '127.0.0.1');
      await once(early, 'listening');
      try {
        const failures = await sumOf(demo, 'tollgate_upstream_failures_total');
        const ejections = await sumOf(demo, 'tollgate_upstream_ejections_total');
        for (let call = 0; call < 15; call += 1) {
          const answer = await fetch(`${demo.streaming_url}/graphql`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
            body: JSON.stringify({ query: '{ a }', variables: { a: 'a'.repeat(900_000) } }),
          });
          expect([answer.status, await answer.text()]).toEqual([413, '{}']);
        }
        expect(await sumOf(demo, 'tollgate_upstream_failures_total')).toBe(failures);
        expect(await sumOf(demo, 'tollgate_upstream_ejections_total')).toBe(ejections);
      } finally {
        early.close();
        await once(early, 'close');
        await start('upstream');
      }
    });
  });
}
