import { setTimeout as delay } from 'node:timers/promises';
import { MAX_TOTAL, usageLane } from '@tollgate/contracts/usage-stream';
import type { OperationDocument, UsageEvent, WrittenBefore } from '@tollgate/contracts/usage-stream';
import { endBatch, onBatchEnd } from '@tollgate/redis/batch-writes';
import type { LeaseEntry } from './leases.ts';
import { createDeliverBatch } from './deliver-batch.ts';
import type { DeliverBatchOptions } from './deliver-batch.ts';
import type { LiveUsage } from './record-script.ts';
import { sumEvents } from './sum-events.ts';
import type { TimedUsage, UntimedUsage } from './usage-event.ts';

export type UsageRecorderOptions = DeliverBatchOptions & {
  /** Identifies this process's batches together with their number; never reused. */
  gatewayId: string;
  redisIsReady: () => boolean;
  maxQueuedEvents: number;
  /** A lane's batches begin at least so far apart, unless a full one waits. Default: 0. */
  intervalMs?: number;
  nowMs: () => number;
  /** Called with the events of each batch that Redis has acknowledged, and their periods' live counters. */
  onMetered?: (events: readonly UsageEvent[], live: ReadonlyMap<number, LiveUsage>) => void;
  /**
   * Resolves when no gateway uses a share of the payer that it got before the limit was reached
   * (docs/design/admission.md).
   */
  sharesReturned?: (event: Pick<UsageEvent, 'payer_id' | 'period_id'>, forMs: number) => Promise<void>;
};

/**
 * Queues usage for the payer's lane; its batch releases `lease`. Resolves at the acknowledgement with the period's live
 * counters (null if they aren't live). Never rejects: it retries while Redis is away.
 */
export type RecordUsage = (
  usage: UntimedUsage,
  lane: number,
  lease?: LeaseEntry | null,
) => Promise<LiveUsage | null>;

export type UsageRecorder = {
  record: RecordUsage;
  canRecord: (lane: number) => boolean;
  queuedEvents: () => number;
  /** Resolves when Redis has acknowledged every event, however long that takes. */
  flush: () => Promise<void>;
};

type QueuedEvent = {
  event: TimedUsage;
  lease: LeaseEntry | null;
  acknowledge: (usage: LiveUsage | null) => void;
  /** What its batch releases, once it has been in one. */
  released?: readonly LeaseEntry[];
};

type Lane = {
  number: number;
  queue: QueuedEvent[];
  /** When the batch under way was first sent or scheduled; null if there is none. */
  sentAtMs: number | null;
  written: WrittenBefore;
};

type SentBatch = {
  batch: readonly QueuedEvent[];
  events: readonly UsageEvent[];
  before: WrittenBefore;
  delivered: ReturnType<ReturnType<typeof createDeliverBatch>>;
};

const MAX_BATCH_EVENTS = 256;
/** If a batch waits longer for its acknowledgement, Redis counts as away, whatever the connection's state. */
const MAX_UNACKNOWLEDGED_MS = 2_000;

/** Of a document that is in use, its text is sent again after this time: account may not have kept it before. */
const DOCUMENT_INTERVAL_MS = 3_600_000;
/** Of all texts in one batch. */
const DOCUMENTS_MAX_LENGTH = 65_536;

/** Group commit (docs/architecture.md, walk 2): usage that arrives while a lane's batch is under way is the next. */
export function createUsageRecorder(options: UsageRecorderOptions): UsageRecorder {
  const { gatewayId, redisIsReady, maxQueuedEvents, intervalMs = 0, nowMs, onMetered } = options;
  const deliverBatch = createDeliverBatch(options);
  const lanes = new Map<number, Lane>();
  /** How many lanes there are, if entitlements that are kept may name one that a payer has left. */
  let grownTo: number | null = null;
  let queued = 0;
  let seq = 0;
  let whenEmpty: (() => void)[] = [];

  function laneOf(number: number): Lane {
    const known = lanes.get(number);
    if (known !== undefined) return known;
    const written = { batches: 0, requests: 0, points: 0, at_ms: 0 };
    const lane: Lane = { number, queue: [], sentAtMs: null, written };
    lanes.set(number, lane);
    return lane;
  }

  /** Sends what the lane has gathered; null if that is nothing. */
  function sendBatch(lane: Lane): SentBatch | null {
    if (lane.queue.length === 0) return null;
    lane.sentAtMs = performance.now();
    const batch = lane.queue.splice(0, MAX_BATCH_EVENTS);
    const events = sumEvents(batch.map(({ event }) => event));
    const leases = batch.flatMap(
      (one) => (one.released ??= one.lease === null ? [] : releasedWith(one.lease)),
    );
    const documents = documentsOf(batch);
    const before = lane.written;
    const usage = {
      gateway_id: gatewayId,
      seq: (seq += 1),
      before,
      ...(documents.length === 0 ? {} : { documents }),
      events,
    };
    lane.written = writtenAfter(lane.written, events);
    return { batch, events, before, delivered: deliverBatch(lane.number, usage, leases) };
  }

  function enqueue(lane: Lane, events: readonly QueuedEvent[]): void {
    for (const event of events) lane.queue.push(event);
    if (lane.sentAtMs !== null) return;
    lane.sentAtMs = performance.now();
    onBatchEnd(() => void sendBatches(lane));
  }

  /** Until the lane's next batch. */
  function pauseOf({ queue, sentAtMs }: Lane): number {
    if (intervalMs === 0 || sentAtMs === null || queue.length >= MAX_BATCH_EVENTS) return 0;
    return Math.ceil(sentAtMs + intervalMs - performance.now());
  }

  /** Nothing of the batch was written. What is of payers that have moved goes to their lanes. */
  function moveToLanes(from: Lane, { batch, before }: SentBatch, lanes: number): void {
    grownTo = lanes;
    from.written = before;
    for (const { event } of batch) forgetDocumentSent(event);
    const byLane = Map.groupBy([...batch, ...from.queue.splice(0)], ({ event }) =>
      usageLane(event.payer_id, lanes),
    );
    from.queue = byLane.get(from.number) ?? [];
    byLane.delete(from.number);
    for (const [number, events] of byLane) enqueue(laneOf(number), events);
  }

  async function sendBatches(lane: Lane): Promise<void> {
    let sent = sendBatch(lane);
    while (sent !== null) {
      const { batch, events } = sent;
      const delivered = await sent.delivered;
      if ('lanes' in delivered) {
        moveToLanes(lane, sent, delivered.lanes);
        sent = sendBatch(lane);
        continue;
      }
      const { live, sharedForMs } = delivered;
      const pauseMs = pauseOf(lane);
      // Before the responses, so that Redis syncs it while they are written.
      sent = pauseMs > 0 ? null : sendBatch(lane);
      if (sent !== null) endBatch();
      queued -= batch.length;
      onMetered?.(events, live);
      acknowledgeBatch(batch, live, waitsOf(events, sharedForMs, options.sharesReturned));
      if (pauseMs > 0) {
        await delay(pauseMs);
        sent = sendBatch(lane);
      }
    }
    lane.sentAtMs = null;
    if (queued > 0) return;
    for (const resolve of whenEmpty) resolve();
    whenEmpty = [];
  }

  return {
    record: (usage, number, lease = null) =>
      new Promise((acknowledge) => {
        const lane = laneOf(grownTo === null ? number : usageLane(usage.payer_id, grownTo));
        const event = { ...usage, at_ms: Math.floor(nowMs()) };
        queued += 1;
        enqueue(lane, [{ event, lease, acknowledge }]);
      }),
    canRecord: (number) => {
      if (!redisIsReady() || queued >= maxQueuedEvents) return false;
      const sentAtMs = lanes.get(number)?.sentAtMs ?? null;
      return sentAtMs === null || performance.now() - sentAtMs < MAX_UNACKNOWLEDGED_MS;
    },
    queuedEvents: () => queued,
    flush: () =>
      queued === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            whenEmpty.push(resolve);
          }),
  };
}

function releasedWith(lease: LeaseEntry): LeaseEntry[] {
  const { further } = lease;
  const released = lease.shared?.onSent() === false ? [] : [lease];
  return further === undefined ? released : [...released, ...further];
}

/** Of periods with a limit that is reached while gateways may use shares. */
function waitsOf(
  events: readonly UsageEvent[],
  sharedForMs: ReadonlyMap<number, number> | undefined,
  sharesReturned: UsageRecorderOptions['sharesReturned'],
): ReadonlyMap<number, Promise<void>> {
  const waits = new Map<number, Promise<void>>();
  for (const event of events) {
    const forMs = sharedForMs?.get(event.period_id);
    if (sharesReturned === undefined || forMs === undefined || waits.has(event.period_id)) continue;
    waits.set(event.period_id, sharesReturned(event, forMs));
  }
  return waits;
}

/** Texts that haven't been sent lately. */
function documentsOf(batch: readonly QueuedEvent[]): OperationDocument[] {
  const documents: OperationDocument[] = [];
  let room = DOCUMENTS_MAX_LENGTH;
  for (const { event } of batch) {
    const document = event.operation?.counted.document;
    if (document === undefined || document.text === null) continue;
    if (event.at_ms - document.sentAtMs < DOCUMENT_INTERVAL_MS || document.text.length > room) continue;
    document.sentAtMs = event.at_ms;
    room -= document.text.length;
    documents.push({ hash: document.hash, text: document.text });
  }
  return documents;
}

function forgetDocumentSent({ operation }: TimedUsage): void {
  const document = operation?.counted.document;
  if (document !== undefined) document.sentAtMs = 0;
}

function acknowledgeBatch(
  batch: readonly QueuedEvent[],
  live: ReadonlyMap<number, LiveUsage>,
  waits: ReadonlyMap<number, Promise<void>>,
): void {
  for (const { event, lease, acknowledge } of batch) {
    lease?.shared?.onRecorded();
    const usage = live.get(event.period_id) ?? null;
    const wait = waits.get(event.period_id);
    if (wait === undefined) acknowledge(usage);
    else {
      void wait.then(() => {
        acknowledge(usage);
      });
    }
  }
}

function writtenAfter(
  { batches, requests, points }: WrittenBefore,
  events: readonly UsageEvent[],
): WrittenBefore {
  const written = { batches: batches + 1, requests, points, at_ms: Date.now() };
  for (const event of events) {
    written.requests = Math.min(written.requests + event.requests, MAX_TOTAL);
    written.points = Math.min(written.points + event.points, MAX_TOTAL);
  }
  return written;
}
