import type { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ownProcesses } from '@tollgate/testbed/config';
import { startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';
import { begin } from '../../../../test/suite/http-client.ts';

/** Its memory is measured. */
ownProcesses();

let gateway: GatewayUnderTest;

/** Begins a call with a small body. */
function start() {
  return begin(gateway.graphqlUrl, { headers: bearer(), body: '{}' });
}

function bearer() {
  return { authorization: `Bearer ${gateway.auth.issue()}` };
}

const megabyte = Buffer.alloc(1_048_576, 'x');

/** Writes megabytes as fast as they are taken, and ends. Returns how many it has written so far. */
function pour(target: Writable, megabytes: number): () => number {
  let written = 0;
  const fill = (): void => {
    while (written < megabytes) {
      written += 1;
      if (!target.write(megabyte)) {
        target.once('drain', fill);
        return;
      }
    }
    target.end();
  };
  fill();
  return () => written;
}

/** In each round trip both processes handle all their connections: what can move on moves. */
const ROUND_TRIPS = 25;

/** Resolves with an amount when it hasn't changed for many round trips to the gateway. */
async function whenStill(amount: () => number): Promise<number> {
  let seen = amount();
  for (let trips = 0; trips < ROUND_TRIPS; trips += 1) {
    await gateway.metric('tollgate_data_calls_in_flight');
    if (amount() === seen) continue;
    seen = amount();
    trips = -1;
  }
  return seen;
}

describe('without time limits that end a call', () => {
  beforeAll(async () => {
    gateway = await startGateway({
      env: {
        UPSTREAM_BODY_IDLE_TIMEOUT_MS: '600000',
        REQUEST_BODY_TIMEOUT_MS: '300000',
        MAX_REQUEST_BODY_BYTES: '100000000',
      },
    });
  });

  afterAll(() => gateway.stop());

  test('a caller that reads slowly holds the upstream back: 100 MB pass, and few are in memory', async () => {
    let written = () => 0;
    gateway.upstream((_req, res) => {
      res.writeHead(200, { 'content-length': 100 * megabyte.length });
      written = pour(res, 100);
    });
    const memory = () => gateway.metric('process_resident_memory_bytes');
    const before = await memory();
    const response = await start().answer;
    response.pause();
    // The caller takes nothing: the upstream's writes come to a stand well before the end.
    expect(await whenStill(written)).toBeLessThan(20);
    expect((await memory()) - before).toBeLessThan(50_000_000);
    let received = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) received += chunk.length;
    expect(received).toBe(100 * megabyte.length);
  });
});

describe('with a limit on silence', () => {
  beforeAll(async () => {
    gateway = await startGateway({
      // Longer than a busy machine stands still.
      env: { UPSTREAM_BODY_IDLE_TIMEOUT_MS: '5000' },
    });
  });

  afterAll(() => gateway.stop());

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
});
