import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { USAGE_SHARD_COUNT, usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { Logger } from '@tollgate/log';
import type { Redis } from '@tollgate/redis';
import { applyEntries } from './apply-entries.ts';
import type { Applied } from './apply-entries.ts';
import type { UsageReaderMetrics } from './metrics.ts';
import { loadPositions } from './positions.ts';
import type { Positions } from './positions.ts';
import { streamEntries } from './stream-entry.ts';
import type { StreamEntry } from './stream-entry.ts';
import { FIRST_STREAM_ID, nextStreamId, streamIdMs } from './stream-id.ts';

export type UsageReaderOptions = {
  /** A pool of the reader's own, so that neither requests nor usage can starve the other. */
  database: Knex;
  /** A connection that may block: nothing else waits behind XREAD. */
  blockingRedis: Redis;
  redis: Pick<Redis, 'pipeline'>;
  logger: Pick<Logger, 'info' | 'warn'>;
  metrics: UsageReaderMetrics;
};

export type UsageReader = {
  /** Stops reading and resolves when the transaction under way is done. */
  close: () => Promise<void>;
};

const STREAMS: readonly string[] = Array.from({ length: USAGE_SHARD_COUNT }, (_, shard) =>
  usageStreamKey(shard),
);

/** Entries of one stream in one transaction, at most: bounds the transaction to 64 times as many. */
const ENTRIES_PER_STREAM = 32;

/** How long XREAD waits for an entry. */
const BLOCK_MS = 2_000;

/** Without an answer for so much longer, the connection is given up. */
const HANG_MARGIN_MS = 3_000;

const MAX_BACKOFF_MS = 1_000;

/**
 * Starts to count what the gateways have written to the usage streams (architecture.md, "Usage, exactly
 * once"). While Redis or Postgres is away it tries again, at most a second apart, and says so once. Any
 * number of readers may run: the positions in Postgres decide which of them counts an entry.
 */
export function startUsageReader(options: UsageReaderOptions): UsageReader {
  const { blockingRedis, logger } = options;
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  let failures = 0;

  function onProgress(): void {
    if (failures > 0) logger.info('usage is counted again');
    failures = 0;
  }

  async function run(): Promise<void> {
    while (!isStopping()) {
      try {
        await follow(options, stopping.signal, onProgress);
      } catch (error) {
        if (failures === 0 && !isStopping())
          logger.warn({ err: error }, 'usage waits to be counted; trying again');
        failures += 1;
        const backoffMs = Math.min(50 * 2 ** Math.min(failures, 10), MAX_BACKOFF_MS);
        await delay(backoffMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  const running = run();
  return {
    close: async () => {
      stopping.abort();
      blockingRedis.disconnect();
      await running;
    },
  };
}

/** Follows the streams from the stored positions on, until something fails or a stop is asked for. */
async function follow(
  { database, blockingRedis, redis, logger, metrics }: UsageReaderOptions,
  signal: AbortSignal,
  onProgress: () => void,
): Promise<void> {
  if (blockingRedis.status !== 'ready') await once(blockingRedis, 'ready', { signal });
  let positions = await loadPositions(database, STREAMS);
  // A process that died between its commit and its trim left entries behind.
  await trim(redis, positions);
  while (!signal.aborted) {
    const entries = await read(blockingRedis, positions);
    if (entries.length > 0) {
      const applied = await applyEntries(database, entries, Date.now());
      observe(metrics, logger, entries, applied);
      positions = new Map([...positions, ...applied.positions]);
      await trim(redis, applied.positions);
    } else metrics.lag.set(0);
    onProgress();
  }
}

async function read(blockingRedis: Redis, positions: Positions): Promise<StreamEntry[]> {
  // A Redis that vanished without a word would otherwise be waited for without end.
  const timer = setTimeout(() => {
    blockingRedis.disconnect(true);
  }, BLOCK_MS + HANG_MARGIN_MS);
  try {
    return streamEntries(
      await blockingRedis.xread(
        ...(['COUNT', ENTRIES_PER_STREAM, 'BLOCK', BLOCK_MS, 'STREAMS'] as const),
        ...positions.keys(),
        ...positions.values(),
      ),
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Removes what is counted. Positions only ever name entries whose transaction is committed. */
async function trim(redis: Pick<Redis, 'pipeline'>, positions: Positions): Promise<void> {
  const pipeline = redis.pipeline();
  for (const [stream, position] of positions) {
    if (position !== FIRST_STREAM_ID) pipeline.xtrim(stream, 'MINID', nextStreamId(position));
  }
  await pipeline.exec();
}

function observe(
  metrics: UsageReaderMetrics,
  logger: Pick<Logger, 'warn'>,
  entries: readonly StreamEntry[],
  { entries: counted, events, unassigned }: Applied,
): void {
  const oldestMs = Math.min(...entries.map(({ id }) => streamIdMs(id)));
  metrics.lag.set(Math.max(0, Date.now() - oldestMs) / 1_000);
  metrics.entries.inc(counted);
  metrics.events.inc(events);
  for (const reason of unassigned) metrics.unassigned.inc({ reason });
  if (unassigned.length > 0) {
    const reasons = [...new Set(unassigned)];
    logger.warn({ count: unassigned.length, reasons }, 'usage could not be counted; see usage_unassigned');
  }
}
