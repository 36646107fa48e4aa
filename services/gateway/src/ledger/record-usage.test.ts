import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { UsageBatch } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { callsIn, recordedBatches } from '../../test/suite/records/recorded-usage.ts';
import { startLossyRelay } from '../../test/suite/lossy-relay.ts';
import type { LossyRelay } from '../../test/suite/lossy-relay.ts';

let gateway: GatewayUnderTest;
let relay: LossyRelay;
let nextAccount = 1_000;

beforeAll(async () => {
  gateway = await startGateway({
    redisUrl: async ({ url, port }) => {
      relay = await startLossyRelay(port);
      return url.replace(`:${String(port)}`, `:${String(relay.port)}`);
    },
  });
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(async () => {
  await gateway.stop();
  await relay.close();
});

function caller() {
  const accountId = (nextAccount += 1);
  return { accountId, token: gateway.auth.issue({ accountId }) };
}

test('an answered call is one event: who, who pays, points of the upstream, bytes of the answer', async () => {
  const { accountId, token } = caller();
  gateway.account.entitle(accountId, { payer_id: 77 });
  gateway.upstream((_req, res) => {
    res.writeHead(200, { 'x-points': '13' }).end('x'.repeat(1_234));
  });
  const sentAtMs = Date.now();
  expect((await gateway.query({ token })).headers['x-points-cost']).toBe('13');
  const [event] = await gateway.usage(1, accountId);
  expect(event).toEqual({
    payer_id: 77,
    period_id: accountId * 10,
    account_id: accountId,
    application_id: 70,
    api_version: 'v2',
    points: 13,
    requests: 1,
    time_ms: 0,
    traffic_bytes: 1_234,
    at_ms: expect.any(Number),
    operations: [
      {
        name: null,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        points: 13,
        requests: 1,
        errors: 0,
        durations: [[expect.any(Number), 1]],
      },
    ],
  });
  // By Redis' clock, as it was measured.
  expect(event?.at_ms).toBeGreaterThanOrEqual(sentAtMs - 1_000);
  expect(event?.at_ms).toBeLessThanOrEqual(Date.now() + 1_000);
});

test.each([
  ['0', 0],
  ['1000000000000', 1e12],
  ['1000000000001', 1],
  ['99999999999999999999', 1],
  [undefined, 1],
  ['-1', 1],
  ['1.5', 1],
  ['many', 1],
  ['', 1],
  [['3', '4'], 1],
])('X-Points: %j costs %i', async (header, points) => {
  const { accountId, token } = caller();
  gateway.upstream((_req, res) => {
    res.writeHead(200, header === undefined ? {} : { 'x-points': header }).end('{}');
  });
  expect((await gateway.query({ token })).headers['x-points-cost']).toBe(String(points));
  expect((await gateway.usage(1, accountId))[0]?.points).toBe(points);
});

test('an error of the upstream is an answer, and counts', async () => {
  const { accountId, token } = caller();
  gateway.upstream((_req, res) => {
    res.writeHead(500).end('{"errors":[]}');
  });
  expect((await gateway.query({ token })).status).toBe(500);
  expect(callsIn(await gateway.usage(1, accountId))).toBe(1);
});

test('a batch whose acknowledgement was lost is sent again under its number and counted once', async () => {
  const { accountId, token } = caller();
  await gateway.query({ token });
  await gateway.usage(1, accountId);
  const lostBefore = relay.lost();
  relay.loseNextReplyTo(/:seen:/);
  expect((await gateway.query({ token })).status).toBe(200);
  await waitFor(() => relay.lost() > lostBefore);
  await waitFor(async () => (await gateway.metric('tollgate_settlement_queue_events')) === 0);
  expect(await gateway.metric('tollgate_settlement_batches_total', { outcome: 'repeated' })).toBe(1);
  expect(callsIn(await gateway.usage(2, accountId))).toBe(2);
});

test('kill -9 of Redis during 1,000 calls: every answer that a caller saw is counted, once', async () => {
  const { accountId, token } = caller();
  let answered = 0;
  let left = 1_000;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      if ((await gateway.query({ token })).status === 200) answered += 1;
    }
  };
  const workers = Array.from({ length: 16 }, worker);
  await waitFor(() => answered > 200);
  await gateway.redis.kill();
  await gateway.redis.restart();
  await Promise.all(workers);
  await waitFor(async () => (await gateway.metric('tollgate_settlement_queue_events')) === 0);
  expect(answered).toBeGreaterThan(200);
  expect(callsIn(await gateway.usage(answered, accountId))).toBe(answered);
});

test('batches of a shard carry growing numbers, and no number twice', async () => {
  const batches = await recordedBatches(gateway.redis.url);
  expect(new Set(batches.map(({ gateway_id }) => gateway_id)).size).toBe(1);
  expect(new Set(batches.map(({ seq }) => seq)).size).toBe(batches.length);
  const lastOfShard = new Map<number, number>();
  for (const { seq, events } of batches) {
    const shard = (events[0]?.payer_id ?? 0) % 64;
    expect(events.every(({ payer_id }) => payer_id % 64 === shard)).toBe(true);
    expect(seq).toBeGreaterThan(lastOfShard.get(shard) ?? 0);
    lastOfShard.set(shard, seq);
  }
});

test('each batch states what was written to its shard before it', async () => {
  const batches = await recordedBatches(gateway.redis.url);
  const shardOf = ({ events }: UsageBatch) => (events[0]?.payer_id ?? 0) % 64;
  for (const ofShard of Map.groupBy(batches, shardOf).values()) {
    const written = { batches: 0, requests: 0, points: 0 };
    for (const { before, events } of ofShard) {
      expect(before).toMatchObject(written);
      written.batches += 1;
      for (const { requests, points } of events) {
        written.requests += requests;
        written.points += points;
      }
    }
  }
  expect(batches.some(({ before }) => (before?.batches ?? 0) > 5)).toBe(true);
});

test('a Redis that takes commands and acknowledges none: new calls get 503, and none is lost', async () => {
  const { accountId, token } = caller();
  await gateway.query({ token });
  await gateway.usage(1, accountId);
  const release = relay.hold();
  let answered = 1;
  await waitFor(async () => {
    const { status } = await gateway.query({ token });
    if (status === 200) answered += 1;
    return status === 503;
  });
  release();
  await waitFor(async () => (await gateway.metric('tollgate_settlement_queue_events')) === 0);
  await waitFor(async () => (await gateway.query({ token })).status === 200);
  expect(callsIn(await gateway.usage(answered + 1, accountId))).toBe(answered + 1);
});
