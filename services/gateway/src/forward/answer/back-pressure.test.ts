import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { begin } from '../../../test/suite/http-client.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      // Far longer than a busy machine takes to see that writes have come to a stand.
      UPSTREAM_BODY_IDLE_TIMEOUT_MS: '5000',
      MAX_REQUEST_BODY_BYTES: '100000000',
    },
  });
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

/** Begins a call with a small body. */
function start(token = gateway.auth.issue()) {
  return begin(gateway.graphqlUrl, { headers: { authorization: `Bearer ${token}` }, body: '{}' });
}

const megabyte = Buffer.alloc(1_048_576, 'x');

test('a caller that reads slowly holds the upstream back: 100 MB pass, and few are in memory', async () => {
  let written = 0;
  gateway.upstream((_req, res) => {
    res.writeHead(200, { 'content-length': 100 * megabyte.length });
    const fill = (): void => {
      while (written < 100) {
        written += 1;
        if (!res.write(megabyte)) {
          res.once('drain', fill);
          return;
        }
      }
      res.end();
    };
    fill();
  });
  const memory = () => gateway.metric('process_resident_memory_bytes');
  const before = await memory();
  const response = await start().answer;
  response.pause();
  // The caller takes nothing: the upstream's writes come to a stand well before the end.
  let seen = -1;
  await waitFor(
    () => {
      const stands = written === seen;
      seen = written;
      return stands && written > 0;
    },
    { intervalMs: 300 },
  );
  expect(written).toBeLessThan(20);
  expect((await memory()) - before).toBeLessThan(50_000_000);
  let received = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) received += chunk.length;
  expect(received).toBe(100 * megabyte.length);
});

test('an upstream that reads slowly holds the caller back', async () => {
  let release: () => void = () => undefined;
  let receivedBytes = 0;
  gateway.upstream((req, res) => {
    release = () => {
      req.on('data', (chunk: Buffer) => (receivedBytes += chunk.length));
      req.once('end', () => res.end('{}'));
    };
  });
  const body = Buffer.alloc(50 * megabyte.length, 'x');
  const { request, answer } = begin(gateway.graphqlUrl, {
    headers: { authorization: `Bearer ${gateway.auth.issue()}` },
    body,
  });
  await waitFor(async () => (await gateway.metric('tollgate_data_calls_in_flight')) === 1);
  let seen = -1;
  const sent = () => request.socket?.writableLength ?? 0;
  await waitFor(
    () => {
      const stands = sent() === seen;
      seen = sent();
      return stands;
    },
    { intervalMs: 200 },
  );
  expect(sent()).toBeGreaterThan(20 * megabyte.length);
  release();
  expect((await answer).statusCode).toBe(200);
  expect(receivedBytes).toBe(body.length);
});

test('a caller that stops reading for good is cut off, and frees its connection', async () => {
  const ended = new Promise<void>((resolve) => {
    gateway.upstream((_req, res) => {
      res.writeHead(200);
      res.once('close', resolve);
      const fill = () => {
        while (!res.destroyed && res.write(megabyte));
      };
      res.on('drain', fill);
      fill();
    });
  });
  const response = await start().answer;
  response.pause().on('error', () => undefined);
  await ended;
  expect(await gateway.metric('tollgate_data_calls_in_flight')).toBe(0);
  response.destroy();
});

test('a caller that stops sending within its body is refused, and frees its connection', async () => {
  const ended = new Promise((resolve) => {
    gateway.upstream((req) => {
      req.resume().once('close', () => {
        resolve(req.complete);
      });
    });
  });
  const { request, answer } = begin(gateway.graphqlUrl, {
    headers: { authorization: `Bearer ${gateway.auth.issue()}`, 'content-length': 100_000 },
    body: Buffer.alloc(50_000),
  });
  expect((await answer).statusCode).toBe(408);
  expect(await ended).toBe(false);
  request.destroy();
});
