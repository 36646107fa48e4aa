import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { callsIn } from '../../../test/suite/records/recorded-usage.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway();
});

afterAll(() => gateway.stop());

test('kill -9 of a gateway under load: every answer that a caller saw to its end is recorded, and none twice', async () => {
  const upstreamCalls = new Set<string>();
  // Both ways in which an answer is held back: whole, and its end only.
  gateway.upstream((req, res) => {
    const id = String(req.headers['x-request-id']);
    upstreamCalls.add(id);
    if (upstreamCalls.size % 2 === 0) res.writeHead(200, { 'content-length': 2 }).end('{}');
    else {
      res.write('{');
      res.end('}');
    }
  });
  for (let round = 1; round <= 2; round += 1) {
    const doomed = await gateway.startTwin();
    const before = callsIn(await gateway.usage(0));
    const callsBefore = upstreamCalls.size;
    let answered = 0;
    let killed = false;
    const worker = async () => {
      while (!killed) {
        const answer = await doomed.query().catch(() => null);
        if (answer?.status === 200 && answer.body.toString() === '{}') answered += 1;
      }
    };
    const workers = Array.from({ length: 16 }, worker);
    try {
      await waitFor(() => answered > 100);
      await doomed.process.kill();
    } finally {
      killed = true;
    }
    await Promise.all(workers);
    const recorded = callsIn(await gateway.usage(0)) - before;
    expect(recorded).toBeGreaterThanOrEqual(answered);
    expect(recorded).toBeLessThanOrEqual(upstreamCalls.size - callsBefore);
  }
});
