import { MAX_TOTAL, usageShard } from '@tollgate/contracts/usage-stream';
import type { UsageEvent, WrittenBefore } from '@tollgate/contracts/usage-stream';
import { atTurnEnd } from '@tollgate/redis/gather-writes';
import type { LeaseEntry } from '../../admission/leases.ts';
import { createDeliver } from './deliver.ts';
import type { DeliverOptions } from './deliver.ts';
import type { LiveUsage } from './settle-script.ts';
import { sumEvents } from './sum-events.ts';

export type SettlementOptions = DeliverOptions & {
  /** Names this process's batches together with their number; never used twice. */
  gatewayId: string;
  /** Whether Redis can be reached at this moment. */
  redisIsReady: () => boolean;
  maxQueuedEvents: number;
  /** The time by the clock that all services share. */
  nowMs: () => number;
};

/** Usage that is told when it has come to be; it is stamped then. */
export type UntimedUsage = Omit<UsageEvent, 'at_ms'>;

/**
 * Takes the usage of a finished call, or of a part of an open one; it goes out by itself, and a lease given with
 * it is released by the same script. Resolves when Redis has acknowledged it, with the period's counters after
 * it, or with null where they aren't live at that moment. It never rejects: while Redis is away it goes on
 * trying, and callers have timeouts of their own.
 */
export type RecordUsage = (usage: UntimedUsage, lease?: LeaseEntry | null) => Promise<LiveUsage | null>;

export type Settlement = {
  record: RecordUsage;
  /** Whether the usage of a further call of this payer would be recorded soon. */
  canRecord: (payerId: number) => boolean;
  /** Events that Redis hasn't acknowledged. */
  queuedEvents: () => number;
  /** Resolves when Redis has acknowledged every event; waits as long as that takes. */
  flush: () => Promise<void>;
};

type Waiting = {
  event: UsageEvent;
  lease: LeaseEntry | null;
  acknowledge: (usage: LiveUsage | null) => void;
};

type Shard = {
  number: number;
  waiting: Waiting[];
  /** When the batch under way was first sent, or due to be; null while there is none. */
  sentAtMs: number | null;
  /** What this process has put into batches for the shard so far. */
  written: WrittenBefore;
};

const MAX_BATCH_EVENTS = 256;
/** A batch that waits longer for its acknowledgement says that Redis is away, whatever the connection says. */
const MAX_UNACKNOWLEDGED_MS = 2_000;

/**
 * Group commit of usage (docs/architecture.md, walk 2). Each shard has one batch under way; what
 * finishes meanwhile is the next batch, sent when Redis has acknowledged the last one.
 */
export function createSettlement(options: SettlementOptions): Settlement {
  const { gatewayId, redisIsReady, maxQueuedEvents, nowMs } = options;
  const deliver = createDeliver(options);
  const shards = new Map<number, Shard>();
  let queued = 0;
  let seq = 0;
  let whenEmpty: (() => void)[] = [];

  function shardOf(payerId: number): Shard {
    const number = usageShard(payerId);
    const known = shards.get(number);
    if (known !== undefined) return known;
    const written = { batches: 0, requests: 0, points: 0, at_ms: 0 };
    const shard: Shard = { number, waiting: [], sentAtMs: null, written };
    shards.set(number, shard);
    return shard;
  }

  async function drain(shard: Shard): Promise<void> {
    while (shard.waiting.length > 0) {
      shard.sentAtMs = performance.now();
      const waiting = shard.waiting.splice(0, MAX_BATCH_EVENTS);
      const events = sumEvents(waiting.map(({ event }) => event));
      const leases = waiting.flatMap(({ lease }) => lease ?? []);
      seq += 1;
      const before = shard.written;
      shard.written = writtenAfter(before, events);
      const live = await deliver(shard.number, { gateway_id: gatewayId, seq, before, events }, leases);
      queued -= waiting.length;
      for (const { event, acknowledge } of waiting) acknowledge(live.get(event.period_id) ?? null);
    }
    shard.sentAtMs = null;
    if (queued > 0) return;
    for (const resolve of whenEmpty) resolve();
    whenEmpty = [];
  }

  return {
    record: (usage, lease = null) =>
      new Promise((acknowledge) => {
        const shard = shardOf(usage.payer_id);
        const event = { ...usage, at_ms: Math.floor(nowMs()) };
        shard.waiting.push({ event, lease, acknowledge });
        queued += 1;
        if (shard.sentAtMs !== null) return;
        shard.sentAtMs = performance.now();
        // All that finishes in this turn goes in one batch.
        atTurnEnd(() => void drain(shard));
      }),
    canRecord: (payerId) => {
      if (!redisIsReady() || queued >= maxQueuedEvents) return false;
      const sentAtMs = shards.get(usageShard(payerId))?.sentAtMs ?? null;
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
