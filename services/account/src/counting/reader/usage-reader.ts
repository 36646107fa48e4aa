import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { USAGE_SHARD_COUNT, usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { Logger } from '@tollgate/log';
import { startLoop } from '@tollgate/server/background-loop';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import type { RedisConnection } from '@tollgate/redis';
import { openEntryWatch } from '@tollgate/redis/await-entries';
import type { EntryWatch } from '@tollgate/redis/await-entries';
import { createQuery } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { deleteInactiveGateways } from '../gaps/gateway-sequences.ts';
import { awaitEntries, readAndCount } from './read-and-count.ts';
import type { ReadOptions } from './read-and-count.ts';
import type { UsageReaderMetrics } from './metrics.ts';
import { findRolledBack } from '../stream/positions.ts';
import { createRollbackRepair } from '../gaps/rollback-repair.ts';
import {
  RENEWAL_INTERVAL_MS,
  assignedStreams,
  findOtherReaders,
  releaseLease,
  renewLease,
} from './assignment.ts';
import { createTrimStream } from '../stream/trim-script.ts';
import type { UsageStream } from '../stream/trim-script.ts';
import { createTrimmer } from './trimmer.ts';
import { createStreamBackoff } from './stream-backoff.ts';

export type UsageReaderOptions = {
  /** A pool of the reader's own, so that neither requests nor usage can starve the other. */
  database: Knex;
  redis: RedisConnection;
  /** Between two transactions of a loop, unless entries were left. */
  intervalMs: number;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: UsageReaderMetrics;
  /** By Redis' clock, as usage events are. */
  nowMs: () => number;
};

export type UsageReader = {
  close: () => Promise<void>;
};

/** Also of lanes that aren't in use: a gateway of another version may write to them. */
const STREAMS: readonly UsageStream[] = Array.from({ length: USAGE_SHARD_COUNT }, (_, lane) => ({
  lane,
  key: usageStreamKey(lane),
}));

/** Groups of streams that are counted concurrently, each in one transaction at a time. */
const READ_LOOPS = 4;

export const READER_CONNECTIONS = READ_LOOPS + 1;

/** A reader without success for this long stops renewing its lease, so that others take its streams. */
const MAX_IDLE_MS = 3_000;

/** Streams are read this often even if Redis announces no entry: its connection may be to a server that gets none. */
const MAX_WAIT_MS = 20_000;

const FORGET_INTERVAL_MS = 3_600_000;

/**
 * Counts the usage streams (docs/architecture.md, walk 2; docs/design/settlement.md). Any number of readers divide the
 * streams among themselves to save work; the positions in Postgres decide who counts an entry. If Redis or Postgres is
 * unavailable, it retries at most a second apart and logs once.
 */
export function startUsageReader(options: UsageReaderOptions): UsageReader {
  const { database, redis, intervalMs, logger, metrics, nowMs } = options;
  const readerId = randomUUID();
  const query = createQuery(database);
  const backoff = createStreamBackoff(logger);
  const repair = createRollbackRepair({ database, redis, metrics, logger });
  const trimmer = createTrimmer({ trim: createTrimStream(redis), repair, metrics, logger });
  const positions = new Map<string, string>();
  const readOptions: ReadOptions = { database, redis, positions, trimmer, backoff, metrics, nowMs, logger };
  const watches = Array.from({ length: READ_LOOPS }, () => openEntryWatch(redis));
  let assigned: readonly UsageStream[] = [];
  const firstAssignment = Promise.withResolvers<undefined>();

  /** The first entry after a silence is counted at once; those that follow wait for the interval. */
  function startReading(watch: EntryWatch | undefined, loop: number): BackgroundLoop {
    const ownStreams = () => streamsOfLoop(assigned, loop);
    let rested = true;
    return startLoop(async (signal) => {
      await firstAssignment.promise;
      if (signal.aborted) return 0;
      const outcome = await readAndCount(readOptions, ownStreams());
      if (outcome === 'more') return 0;
      const mayWait = rested && outcome === 'nothing';
      const waitedMs = mayWait ? await awaitEntries(readOptions, watch, ownStreams, MAX_WAIT_MS) : 0;
      rested = waitedMs === 0 || waitedMs >= intervalMs;
      return waitedMs === 0 ? intervalMs : 0;
    });
  }

  function assign(others: readonly string[]): void {
    const former = new Set(assigned);
    assigned = assignedStreams(STREAMS, readerId, others);
    // A wait knows only the streams that it began with; what a dead reader has left must not wait for its end.
    if (former.size > 0 && assigned.some((stream) => !former.has(stream))) {
      for (const watch of watches) watch?.interrupt();
    }
    metrics.assigned.set(assigned.length);
    const kept = new Set(assigned.map(({ key }) => key));
    // Others count them meanwhile; the position is loaded again if one comes back.
    for (const stream of positions.keys()) if (!kept.has(stream)) positions.delete(stream);
    for (const stream of metrics.waitingSinceMs.keys()) {
      if (!kept.has(stream)) metrics.waitingSinceMs.delete(stream);
    }
    backoff.retainOnly(kept);
    trimmer.retainOnly(kept);
  }

  const forgetGateways = createForgetGateways(query);
  const renewal = startLoop(async () => {
    let nextLookMs = RENEWAL_INTERVAL_MS;
    try {
      const isWorking = performance.now() - backoff.lastSuccessMs() < MAX_IDLE_MS;
      // At the same time, so that the process is woken once.
      const [others, rolledBack] = await Promise.all([
        (assigned.length === 0 || isWorking ? renewLease : findOtherReaders)(query, readerId),
        findRolledBack(query, new Map(positions)),
      ]);
      assign(others.ids);
      nextLookMs = others.nextLookMs;
      // Loading a position again repairs a rollback.
      for (const stream of rolledBack) positions.delete(stream);
      await forgetGateways();
    } catch (error) {
      // The assignment stays as it is; the loops log that nothing is counted.
      if (assigned.length === 0)
        logger.warn({ err: error }, 'the usage reader cannot reach Postgres; retrying');
    }
    firstAssignment.resolve(undefined);
    return nextLookMs;
  });
  const reading = watches.map(startReading);

  async function endLease(): Promise<void> {
    await renewal.close();
    await releaseLease(query, readerId).catch(() => undefined);
  }

  return {
    close: async () => {
      const closed = [endLease(), ...reading.map((loop) => loop.close())];
      for (const watch of watches) watch?.close();
      await Promise.all(closed);
    },
  };
}

function createForgetGateways(query: Query): () => Promise<void> {
  let forgotAtMs = -Infinity;
  return async () => {
    if (performance.now() - forgotAtMs <= FORGET_INTERVAL_MS) return;
    await deleteInactiveGateways(query);
    forgotAtMs = performance.now();
  };
}

/** In blocks: readers are assigned every n-th stream, so loops with every n-th one could be empty. */
function streamsOfLoop(assigned: readonly UsageStream[], loop: number): UsageStream[] {
  return assigned.filter(({ lane }) => Math.floor((lane * READ_LOOPS) / USAGE_SHARD_COUNT) === loop);
}
