import { expect, test } from '@jest/globals';
import type { UsageBatch } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { callsIn } from '../../../test/suite/records/recorded-usage.ts';
import { createUsageRecorder } from '../../ledger/record-usage.ts';
import type { RecordAnswer } from '../../ledger/record-script.ts';
import type { UntimedUsage } from '../../ledger/usage-event.ts';

const logger = createLogger('test', 'silent');

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

function recorderOver(send: ReturnType<typeof pendingRedis>['send'], maxQueuedEvents: number) {
  return createUsageRecorder({
    gatewayId: 'g',
    send,
    primeLane: () => Promise.resolve(undefined),
    redisIsReady: () => true,
    maxQueuedEvents,
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
