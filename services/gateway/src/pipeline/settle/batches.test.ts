import { setImmediate as turnEnd } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import type { UsageBatch } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import { callsIn } from '../../../test/suite/records/recorded-usage.ts';
import { createUsageRecorder } from '../../ledger/record-usage.ts';
import type { RecordAnswer } from '../../ledger/record-script.ts';
import type { UntimedUsage } from '../../ledger/usage-event.ts';

const logger = createLogger('test', 'silent');

afterEach(() => {
  jest.restoreAllMocks();
});

function event(payerId: number): UntimedUsage {
  return {
    payer_id: payerId,
    period_id: 1,
    account_id: payerId,
    application_id: 1,
    api_version: 'v2',
    points: 1,
    requests: 1,
    time_ms: 0,
    traffic_bytes: 0,
    operation: null,
  };
}

/** A Redis that acknowledges when the test says so. */
function pendingRedis() {
  const sent: { calls: number; seq: number; acknowledge: () => void }[] = [];
  const send = (_lane: number, { events, seq }: UsageBatch) =>
    new Promise<RecordAnswer>((resolve) => {
      sent.push({
        calls: callsIn(events),
        seq,
        acknowledge: () => {
          resolve({ result: 'recorded', live: new Map() });
        },
      });
    });
  return { sent, send };
}

function recorderOver(
  send: ReturnType<typeof pendingRedis>['send'],
  maxQueuedEvents: number,
  intervalMs = 0,
) {
  return createUsageRecorder({
    gatewayId: 'g',
    send,
    primeLane: () => Promise.resolve(undefined),
    redisIsReady: () => true,
    maxQueuedEvents,
    intervalMs,
    nowMs: () => 0,
    logger,
  });
}

test('a full queue takes no further calls, and does again when it is shorter', async () => {
  const { sent, send } = pendingRedis();
  const recorder = recorderOver(send, 3);
  for (let calls = 0; calls < 3; calls += 1) {
    expect(recorder.canRecord(1)).toBe(true);
    void recorder.record(event(1), 1);
  }
  expect(recorder.canRecord(1)).toBe(false);
  expect(recorder.canRecord(2)).toBe(false);
  await waitFor(() => sent.length === 1);
  sent[0]?.acknowledge();
  await waitFor(() => recorder.canRecord(1));
});

test('what finishes while a batch is under way is the next batch, within its bound', async () => {
  const { sent, send } = pendingRedis();
  const recorder = recorderOver(send, 10_000);
  void recorder.record(event(1), 1);
  await waitFor(() => sent.length === 1);
  for (let calls = 1; calls < 600; calls += 1) void recorder.record(event(1), 1);
  const flushed = recorder.flush();
  for (const batch of [0, 1, 2, 3]) {
    await waitFor(() => sent.length === batch + 1);
    sent[batch]?.acknowledge();
  }
  await flushed;
  expect(sent.map(({ calls }) => calls)).toEqual([1, 256, 256, 87]);
  expect(sent.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  expect(recorder.queuedEvents()).toBe(0);
});

test('what finishes in one turn of the event loop is one batch', async () => {
  const { sent, send } = pendingRedis();
  const recorder = recorderOver(send, 10);
  for (let calls = 0; calls < 4; calls += 1) void recorder.record(event(1), 1);
  await waitFor(() => sent.length === 1);
  expect(sent[0]?.calls).toBe(4);
});

test('one shard that waits does not hold up another', async () => {
  const { sent, send } = pendingRedis();
  const recorder = recorderOver(send, 10);
  void recorder.record(event(1), 1);
  void recorder.record(event(2), 2);
  await waitFor(() => sent.length === 2);
});

test('with an interval, a lane’s next batch waits for it, unless it is full', async () => {
  // A busy machine may take longer than the interval for what follows.
  const nowMs = performance.now();
  jest.spyOn(performance, 'now').mockReturnValue(nowMs);
  const { sent, send } = pendingRedis();
  const recorder = recorderOver(send, 10_000, 50);
  void recorder.record(event(1), 1);
  await waitFor(() => sent.length === 1);
  for (let calls = 1; calls < 600; calls += 1) void recorder.record(event(1), 1);
  for (const full of [1, 2]) {
    sent[full - 1]?.acknowledge();
    await turnEnd();
    expect(sent.length).toBe(full + 1);
  }
  const flushed = recorder.flush();
  sent[2]?.acknowledge();
  await turnEnd();
  expect(sent.length).toBe(3);
  await waitFor(() => sent.length === 4);
  sent[3]?.acknowledge();
  await flushed;
  expect(sent.map(({ calls }) => calls)).toEqual([1, 256, 256, 87]);
});

test('a gateway with an interval settles no more batches than it has intervals, and each call once', async () => {
  const intervalMs = 100;
  const gateway = await startGateway({ env: { SETTLEMENT_INTERVAL_MS: String(intervalMs) } });
  try {
    const token = gateway.auth.issue();
    const sinceMs = performance.now();
    const callers = Array.from({ length: 10 }, async () => {
      for (let calls = 0; calls < 10; calls += 1) expect((await gateway.query({ token })).status).toBe(200);
    });
    await Promise.all(callers);
    const intervals = (performance.now() - sinceMs) / intervalMs;
    expect(callsIn(await gateway.usage(100))).toBe(100);
    const recorded = await gateway.metric('tollgate_settlement_batches_total', { outcome: 'recorded' });
    expect(recorded).toBeLessThanOrEqual(Math.ceil(intervals) + 1);
  } finally {
    await gateway.stop();
  }
});
