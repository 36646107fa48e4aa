import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { USAGE_SHARD_COUNT, usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { Logger } from '@tollgate/log';
import type { RedisConnection } from '@tollgate/redis';
import { createQuery } from '../../platform/database/query.ts';
import { pause } from '../../platform/timing/pause.ts';
import { forgetGoneGateways } from '../gaps/gateway-sequences.ts';
import { countOnce } from './lane.ts';
import type { LaneOptions } from './lane.ts';
import type { UsageReaderMetrics } from './metrics.ts';
import { findSetBack } from './stream/positions.ts';
import { createSetBacks } from '../gaps/set-backs.ts';
import { giveUpShare, otherReaders, renewShare, RENEWAL_INTERVAL_MS, shareOf } from './shares.ts';
import { createTrimStream } from './stream/trim-script.ts';
import type { UsageStream } from './stream/trim-script.ts';
import { createTrims } from './stream/trims.ts';
import { createStreamBackoff } from './stream-backoff.ts';

export type UsageReaderOptions = {
  /** A pool of the reader's own, so that neither requests nor usage can starve the other. */
  database: Knex;
  redis: RedisConnection;
  /** How long a lane rests when it has read all there was. */
  pollIntervalMs: number;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: UsageReaderMetrics;
  /** By Redis' clock, which the gateways stamp usage by. */
  nowMs: () => number;
};

export type UsageReader = {
  /** Stops reading and resolves when the transactions under way are done. */
  close: () => Promise<void>;
};

const STREAMS: readonly UsageStream[] = Array.from({ length: USAGE_SHARD_COUNT }, (_, shard) => ({
  shard,
  key: usageStreamKey(shard),
}));

/** Groups of streams that are read and counted side by side, each in one transaction at a time. */
const LANES = 4;

/** Each lane has a connection, and the share of the streams is renewed on one of its own. */
export const READER_CONNECTIONS = LANES + 1;

/** A reader that gets nothing done for so long leaves its streams to those that may. */
const MAX_IDLE_MS = 3_000;

const FORGET_INTERVAL_MS = 3_600_000;

/**
 * Starts to count what the gateways have written to the usage streams (docs/architecture.md, walk 2;
 * ADR 0008). Any number of readers share the streams, and take over those of one that is gone; that only saves
 * work: the positions in Postgres decide who counts an entry. While Redis or Postgres is away it tries again, at
 * most a second apart, and says so once.
 */
export function startUsageReader(options: UsageReaderOptions): UsageReader {
  const { database, redis, pollIntervalMs, logger, metrics, nowMs } = options;
  const readerId = randomUUID();
  const query = createQuery(database);
  const stopping = new AbortController();
  const { signal } = stopping;
  const backoff = createStreamBackoff(logger);
  const setBacks = createSetBacks({ database, redis, metrics, logger });
  const trims = createTrims({ trim: createTrimStream(redis), setBacks, metrics, logger });
  const positions = new Map<string, string>();
  const laneOptions: LaneOptions = {
    ...{ database, redis, positions, trims, backoff },
    ...{ metrics, nowMs, logger },
  };
  let share: readonly UsageStream[] = [];

  async function runLane(lane: number): Promise<void> {
    while (!signal.aborted) {
      // By blocks: a share has each n-th stream, which would leave lanes empty that have each n-th, too.
      const own = share.filter(({ shard }) => Math.floor((shard * LANES) / USAGE_SHARD_COUNT) === lane);
      const mayBeMore = await countOnce(laneOptions, own);
      if (!mayBeMore) await pause(pollIntervalMs, signal);
    }
  }

  function take(others: readonly string[]): void {
    share = shareOf(STREAMS, readerId, others);
    metrics.share.set(share.length);
    const kept = new Set(share.map(({ key }) => key));
    // Others will count them meanwhile; what is stored is looked up when one comes back.
    for (const stream of positions.keys()) if (!kept.has(stream)) positions.delete(stream);
    for (const stream of metrics.waitingSinceMs.keys()) {
      if (!kept.has(stream)) metrics.waitingSinceMs.delete(stream);
    }
    backoff.keepOnly(kept);
    trims.keepOnly(kept);
  }

  async function runShare(): Promise<void> {
    let forgotAtMs = -Infinity;
    while (!signal.aborted) {
      try {
        const works = share.length === 0 || performance.now() - backoff.lastPassedMs() < MAX_IDLE_MS;
        take(await (works ? renewShare : otherReaders)(query, readerId));
        // Each is looked up again, which makes good what has been set back.
        for (const stream of await findSetBack(query, new Map(positions))) positions.delete(stream);
        if (performance.now() - forgotAtMs > FORGET_INTERVAL_MS) {
          await forgetGoneGateways(query);
          forgotAtMs = performance.now();
        }
      } catch (error) {
        // Without Postgres nothing is counted, and the lanes say so; the share stays as it was.
        if (share.length === 0) logger.warn({ err: error }, 'the usage reader waits for Postgres');
      }
      await pause(RENEWAL_INTERVAL_MS, signal);
    }
    await giveUpShare(query, readerId).catch(() => undefined);
  }

  const running = Promise.all([runShare(), ...Array.from({ length: LANES }, (_, lane) => runLane(lane))]);
  return {
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}
