import { afterEach, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { WebSocket } from 'ws';
import { obtainToken, postGraphql } from '../caller.ts';
import type { Demo, Stack } from '../stack/stack.ts';

const QUERY = '{ country(code: "NO") { name capital } }';
const ONE = JSON.stringify({ query: QUERY });

async function post(demo: Demo, token: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const response = await fetch(`${demo.streaming_url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Calls that are left in the minute, as an answer states them. */
function callsLeft({ headers }: { headers: Headers }): number {
  return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
}

/** What the gateway reads of calls before it admits them. */
export function readCalls(stack: () => Stack): void {
  describe('a data call is read before it is admitted', () => {
    test('a query costs the same as events as it costs as a document', async () => {
      const { demo } = stack();
      const token = await obtainToken(demo, demo.application);
      const document = await post(demo, token, ONE, { accept: 'application/json' });
      const events = await post(demo, token, ONE, { accept: 'text/event-stream' });
      expect(events.headers.get('content-type')).toContain('text/event-stream');
      expect(events.text).toContain('Oslo');
      const points = document.headers.get('x-points-cost');
      expect(Number(points)).toBeGreaterThan(0);
      expect(events.headers.get('x-points-cost')).toBe(points);
    });

    test('a batch has a limit, and counts all its operations for the rate', async () => {
      const { demo } = stack();
      const token = await obtainToken(demo, demo.application);
      const batch = (count: number) => `[${Array.from({ length: count }, () => ONE).join()}]`;
      const large = await post(demo, token, batch(11));
      expect([large.status, large.text]).toEqual([400, expect.stringContaining('batch_too_large')]);
      expect((await post(demo, token, '[]')).status).toBe(400);
      const before = callsLeft(await post(demo, token, ONE));
      const after = callsLeft(await post(demo, token, batch(10)));
      // Some of the minute's calls may have come back meanwhile.
      expect(before - after).toBeGreaterThan(5);
    });

    test('an encoded body is decoded, and what the gateway can not read is refused', async () => {
      const { demo } = stack();
      const token = await obtainToken(demo, demo.application);
      const gzip = { 'content-encoding': 'gzip' };
      const read = await post(demo, token, gzipSync(ONE), gzip);
      expect([read.status, read.text]).toEqual([200, expect.stringContaining('Oslo')]);
      const bomb = await post(demo, token, gzipSync(Buffer.alloc(20_000_000, ' ')), gzip);
      expect(bomb.status).toBe(413);
      for (const type of ['text/plain', 'application/graphql', 'multipart/form-data; boundary=a']) {
        expect((await post(demo, token, ONE, { 'content-type': type })).status).toBe(415);
      }
      const mutation = `${demo.streaming_url}/graphql?query=${encodeURIComponent('mutation { a }')}`;
      const got = await fetch(mutation, { headers: { authorization: `Bearer ${token}` } });
      expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    });

    test('what upstreams could read differently is refused, and on a socket left out', async () => {
      const { demo } = stack();
      const token = await obtainToken(demo, demo.application);
      const twice = `{"query":"subscription { a }","Query":${JSON.stringify(QUERY)}}`;
      expect((await post(demo, token, twice)).status).toBe(400);
      const url = `${demo.streaming_url.replace('http', 'ws')}/graphql`;
      const socket = new WebSocket(url, 'graphql-transport-ws');
      const result = new Promise<string>((resolve, reject) => {
        socket.on('error', reject).on('message', (data: Buffer) => {
          const { type } = JSON.parse(data.toString()) as { type: string };
          if (type === 'connection_ack') {
            const payload = `{"query":${JSON.stringify(QUERY)},"Query":"{ continents { name } }"}`;
            socket.send(`{"id":"1","type":"subscribe","payload":${payload}}`);
          }
          if (type === 'next') resolve(data.toString());
        });
        socket.once('open', () => {
          socket.send(JSON.stringify({ type: 'connection_init', payload: { token } }));
        });
      });
      expect(await result).toContain('Oslo');
      socket.close();
    });
  });

  describe('callers who send their bodies slowly', () => {
    let sockets: Socket[] = [];
    afterEach(() => {
      for (const socket of sockets) socket.destroy();
      sockets = [];
    });

    test('hold no connection to the upstream: others are answered as ever', async () => {
      const { demo } = stack();
      const slow = await obtainToken(demo, demo.application);
      const other = await obtainToken(demo, demo.member);
      const { hostname, port } = new URL(demo.streaming_url);
      const head =
        `POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${slow}\r\nContent-Type: application/json\r\n` +
        'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n';
      // More than the gateway has connections to the upstream.
      sockets = await Promise.all(
        Array.from(
          { length: 300 },
          () =>
            new Promise<Socket>((resolve, reject) => {
              const socket = connect({ host: hostname, port: Number(port) });
              socket.once('error', reject).write(head, () => {
                resolve(socket);
              });
            }),
        ),
      );
      for (const token of [other, slow]) expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
      const metrics = await (await fetch(`${demo.private.gateway_url}/metrics`)).text();
      expect(metrics).toMatch(/^tollgate_upstream_in_flight\{.*\} 0$/m);
    });
  });
}
