import { setTimeout as delay } from 'node:timers/promises';
import { usageShard } from '@tollgate/contracts/usage-stream';
import type { UsageBatch, UsageEvent } from '@tollgate/contracts/usage-stream';
import type { Logger } from '@tollgate/log';
import type { SendBatch, SettleResult } from './settle-script.ts';

export type SettlementOptions = {
  /** Names this process's batches together with their number; never used twice. */
  gatewayId: string;
  send: SendBatch;
  /** Whether Redis can be reached at this moment. */
  redisIsReady: () => boolean;
  maxQueuedEvents: number;
  logger: Pick<Logger, 'warn' | 'info'>;
  /** Told of each attempt's end, for metrics. */
  onBatch?: (result: SettleResult | 'failed') => void;
};

export type Settlement = {
  /** Takes the usage of one finished call; it goes out by itself. */
  record: (event: UsageEvent) => void;
  /** Whether the usage of a further call of this payer would be recorded soon. */
  canRecord: (payerId: number) => boolean;
  /** Events that Redis hasn't acknowledged. */
  queuedEvents: () => number;
  /** Resolves when Redis has acknowledged every event; waits as long as that takes. */
  flush: () => Promise<void>;
};

type Shard = {
  number: number;
  events: UsageEvent[];
  /** When the batch under way was first sent; null while there is none. */
  sentAtMs: number | null;
};

const MAX_BATCH_EVENTS = 256;
/** A batch that waits longer for its acknowledgement says that Redis is away, whatever the connection says. */
const MAX_UNACKNOWLEDGED_MS = 2_000;
const BACKOFF_MIN_MS = 50;
const BACKOFF_MAX_MS = 500;

/**
 * Group commit of usage (architecture.md, "Usage, exactly once"). Each shard has one batch under way; what
 * finishes meanwhile is the next batch, sent when Redis has acknowledged the last one. A batch without a
 * certain answer is sent again under its number until there is one; the script counts it once.
 */
export function createSettlement(options: SettlementOptions): Settlement {
  const { gatewayId, send, redisIsReady, maxQueuedEvents, logger, onBatch } = options;
  const shards = new Map<number, Shard>();
  let queued = 0;
  let seq = 0;
  let whenEmpty: (() => void)[] = [];

  function shardOf(payerId: number): Shard {
    const number = usageShard(payerId);
    const known = shards.get(number);
    if (known !== undefined) return known;
    const shard: Shard = { number, events: [], sentAtMs: null };
    shards.set(number, shard);
    return shard;
  }

  async function deliver(shard: Shard, batch: UsageBatch): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await send(shard.number, batch);
        onBatch?.(result);
        if (attempt > 1) logger.info({ shard: shard.number, seq: batch.seq, attempt }, 'batch acknowledged');
        return;
      } catch (error) {
        onBatch?.('failed');
        if (attempt === 1) {
          logger.warn({ err: error, shard: shard.number, seq: batch.seq }, 'batch not acknowledged');
        }
        await delay(Math.min(BACKOFF_MIN_MS * 2 ** Math.min(attempt - 1, 10), BACKOFF_MAX_MS));
      }
    }
  }

  async function drain(shard: Shard): Promise<void> {
    while (shard.events.length > 0) {
      shard.sentAtMs = Date.now();
      const events = shard.events.splice(0, MAX_BATCH_EVENTS);
      seq += 1;
      await deliver(shard, { gateway_id: gatewayId, seq, events });
      queued -= events.length;
    }
    shard.sentAtMs = null;
    if (queued > 0) return;
    for (const resolve of whenEmpty) resolve();
    whenEmpty = [];
  }

  return {
    record: (event) => {
      const shard = shardOf(event.payer_id);
      shard.events.push(event);
      queued += 1;
      if (shard.sentAtMs === null) void drain(shard);
    },
    canRecord: (payerId) => {
      if (!redisIsReady() || queued >= maxQueuedEvents) return false;
      const sentAtMs = shards.get(usageShard(payerId))?.sentAtMs ?? null;
      return sentAtMs === null || Date.now() - sentAtMs < MAX_UNACKNOWLEDGED_MS;
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
