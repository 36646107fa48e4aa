import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { connectRaw } from '@tollgate/plain-http/raw-client';
import type { RawClient } from '@tollgate/plain-http/raw-client';
import { waitFor } from '@tollgate/stack/wait-for';
import { createListener } from './listener.ts';
import type { Listener } from './listener.ts';

const limits = { maxUrlBytes: 1_000, maxHeaderBytes: 4_096, maxHeaderCount: 20 };
const POST = 'POST / HTTP/1.1\r\nhost: x\r\n';

let listener: Listener | undefined;

afterEach(() => listener?.close({ idleGraceMs: 0, cutAfterMs: 0 }));

const readWhole: RequestListener = (req, res) => {
  void text(req).then(
    (body) => res.end(`read ${String(body.length)}`),
    () => undefined,
  );
};

async function open(
  handler: RequestListener,
  receiveLimits: { idleMs: number; totalMs: number },
): Promise<RawClient> {
  listener = createListener(handler, {
    name: 'public',
    host: '127.0.0.1',
    port: 0,
    setting: 'PUBLIC_PORT',
    limits,
    receiveLimits,
  });
  await listener.listen();
  return connectRaw(listener.server);
}

/** Sends a byte every now and then, until the connection ends. */
function trickle({ socket, closed }: RawClient, byte = 'x'): void {
  const timer = setInterval(() => socket.write(byte), 20);
  void closed.finally(() => {
    clearInterval(timer);
  });
}

function expectTimeout(answer: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
  expect(head).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(head).toMatch(/^connection: close$/im);
  expect(JSON.parse(body)).toMatchObject({
    code: 'request_timeout',
    status: 408,
    error: 'invalid_request',
    errors: [{ extensions: { code: 'request_timeout' } }],
  });
}

const IDLE = { idleMs: 100, totalMs: 60_000 };
const TOTAL = { idleMs: 60_000, totalMs: 200 };

describe.each([
  ['announced', `${POST}content-length: 10\r\n\r\n`],
  ['chunked', `${POST}transfer-encoding: chunked\r\n\r\n`],
])('a body that is %s', (_name, head) => {
  test('and of which nothing comes for too long is 408', async () => {
    const wire = await open(readWhole, IDLE);
    wire.socket.write(head);
    await wire.closed;
    expectTimeout(wire.received());
  });
});

test('a body that stalls behind its first bytes is 408', async () => {
  const wire = await open(readWhole, IDLE);
  wire.socket.write(`${POST}content-length: 10\r\n\r\n12345`);
  await wire.closed;
  expectTimeout(wire.received());
});

test('a body that trickles on is 408 when its whole time is over', async () => {
  const wire = await open(readWhole, TOTAL);
  wire.socket.write(`${POST}content-length: 1000000\r\n\r\n`);
  trickle(wire);
  await wire.closed;
  expectTimeout(wire.received());
});

test('a head that trickles on is 408', async () => {
  const wire = await open(readWhole, TOTAL);
  wire.socket.write(`${POST}x-slow: `);
  trickle(wire);
  await wire.closed;
  expectTimeout(wire.received());
});

test('a connection that says nothing ends', async () => {
  const wire = await open(readWhole, TOTAL);
  await wire.closed;
  expectTimeout(wire.received());
});

test('a request that a handler refused before its body came has no second answer', async () => {
  const wire = await open((_req, res) => res.writeHead(401, { 'content-length': 0 }).end(), TOTAL);
  wire.socket.write(`${POST}content-length: 10\r\n\r\n`);
  await wire.closed;
  expect(wire.received().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
});

test('a slow handler and a kept connection are not the caller’s idleness', async () => {
  const answers: (() => void)[] = [];
  const wire = await open((req, res) => {
    req.resume().on('end', () => answers.push(() => res.end('done')));
  }, IDLE);
  const { server } = listener as Listener;
  for (const count of [1, 2]) {
    wire.socket.write(`${POST}content-length: 2\r\n\r\nab`);
    await waitFor(() => answers.length === count);
    // The socket's own timeout passes while the handler is busy.
    await once(server, 'timeout');
    answers.at(-1)?.();
    await waitFor(() => wire.received().match(/done/g)?.length === count);
  }
  expect(wire.received()).not.toContain('408');
});
