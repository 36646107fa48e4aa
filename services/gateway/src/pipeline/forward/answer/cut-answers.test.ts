import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import type { Socket } from 'node:net';
import { connectRaw } from '@tollgate/plain-http/raw-client';
import { startRawPeer } from '@tollgate/plain-http/raw-peer';
import type { RawPeer } from '@tollgate/plain-http/raw-peer';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';

/** An answer that ends with its connection can't be told from half of it, but for how the connection ends. */
const HALF = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"data":{"half":';
const HALF_IN_CHUNKS =
  'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"data":{"half":"\r\n';

let gateway: GatewayUnderTest;
let upstream: RawPeer;
/** What the upstream answers with, and what it does then. */
let answer = HALF;
let act: (socket: Socket) => void = () => undefined;
let atUpstream: Socket | undefined;

beforeAll(async () => {
  upstream = await startRawPeer((socket) => {
    socket.once('data', () => {
      atUpstream = socket;
      socket.write(answer, () => {
        act(socket);
      });
    });
  });
  gateway = await startGateway({
    env: {
      UPSTREAM_URL: `${upstream.origin}/graphql`,
      UPSTREAM_BODY_IDLE_TIMEOUT_MS: '1000',
      UPSTREAM_WHOLE_TIMEOUT_MS: '3000',
      SHUTDOWN_TIMEOUT_MS: '1000',
    },
  });
});

afterEach(() => {
  answer = HALF;
  act = () => undefined;
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

/** A call on a connection of its own. */
function call(version: '1.0' | '1.1' = '1.1') {
  const caller = connectRaw(gateway.graphqlUrl);
  const authorization = `Authorization: Bearer ${gateway.auth.issue()}`;
  caller.socket.write(
    `POST /graphql HTTP/${version}\r\nHost: a\r\n${authorization}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
  );
  return caller;
}

const reset = (socket: Socket) => {
  socket.resetAndDestroy();
};
const trickle = (socket: Socket) => {
  const timer = setInterval(() => socket.write('.'), 100);
  socket.once('close', () => {
    clearInterval(timer);
  });
};

describe('an answer that ends with its connection', () => {
  test('is complete at an orderly close', async () => {
    act = (socket) => socket.end('"whole"}}');
    const { received, closed } = call();
    expect(await closed).toBe('closed');
    expect(received()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n{"data":{"half":"whole"}}$/);
  });

  // The reset comes when the caller has the half: sooner, it could overtake it.
  test('is reset where the upstream resets it', async () => {
    const { received, closed } = call();
    await waitFor(() => received().includes('half'));
    reset(atUpstream as Socket);
    expect(await closed).toBe('ECONNRESET');
  });

  test.each<[string, (socket: Socket) => void]>([
    ['falls silent', () => undefined],
    ['never comes to its end', trickle],
  ])('is reset where it %s', async (_name, next) => {
    act = next;
    const { received, closed } = call();
    expect(await closed).toBe('ECONNRESET');
    expect(received()).toContain('half');
  });

  test('is reset where its caller takes nothing of it', async () => {
    act = (socket) => {
      for (let part = 0; part < 30; part += 1) socket.write(Buffer.alloc(1_000_000, 'x'));
    };
    const { socket, closed } = call();
    socket.pause();
    const aborted = async () => gateway.metric('tollgate_data_calls_total', { outcome: 'aborted' });
    const before = await aborted();
    await waitFor(async () => (await aborted()) > before);
    socket.resume();
    expect(await closed).toBe('ECONNRESET');
  });

  test('is an error for curl where the upstream resets it', async () => {
    act = reset;
    const token = gateway.auth.issue();
    const code = await new Promise((resolve) => {
      const args = ['-s', '--json', '{}', '-H', `authorization: Bearer ${token}`, gateway.graphqlUrl];
      execFile('curl', args, (error) => {
        resolve(error?.code ?? 0);
      });
    });
    expect(code).toBeGreaterThan(0);
  });
});

test.each<[string, (socket: Socket) => void]>([
  ['breaks off', (socket) => socket.end()],
  ['is reset', reset],
  ['falls silent', () => undefined],
])('an HTTP/1.0 caller of a chunked answer sees a reset where it %s', async (_name, next) => {
  answer = HALF_IN_CHUNKS;
  const { received, closed } = call('1.0');
  await waitFor(() => received().includes('half'));
  next(atUpstream as Socket);
  expect(await closed).toBe('ECONNRESET');
});

test('an answer that a shutdown cuts is reset', async () => {
  const { received, closed } = call();
  await waitFor(() => received().includes('half'));
  const stopped = gateway.process.stop();
  expect(await closed).toBe('ECONNRESET');
  await stopped;
});
