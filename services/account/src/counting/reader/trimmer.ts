import type { Logger } from '@tollgate/log';
import type { UsageReaderMetrics } from './metrics.ts';
import type { StoredPosition } from '../stream/positions.ts';
import type { RollbackRepair } from '../gaps/rollback-repair.ts';
import type { TrimStream, UsageStream } from '../stream/trim-script.ts';

/** Streams are trimmed this often even if nothing was counted, since trimming detects rollbacks. */
const CHECK_INTERVAL_MS = 10_000;

export type Trimmer = {
  markDue: (key: string) => void;
  trimmedUpTo: (key: string) => string | undefined;
  /** Never throws: what fails stays due. Removes positions that Redis is ahead of, so that they are loaded again. */
  trimDue: (streams: readonly UsageStream[], positions: Map<string, string>) => Promise<void>;
  /** Where to start reading a stream, after repairing a rollback of Redis or Postgres. */
  startPosition: (stream: UsageStream, stored: StoredPosition) => Promise<string>;
  /** Notes in Postgres how far streams are trimmed of which it didn't know. */
  storeTrimmed: (positions: ReadonlyMap<string, string>) => Promise<void>;
  retainOnly: (streams: ReadonlySet<string>) => void;
};

/** Removes counted entries from the streams. Positions name only entries whose transaction is committed. */
export function createTrimmer(options: {
  trim: TrimStream;
  repair: RollbackRepair;
  metrics: Pick<UsageReaderMetrics, 'behind'>;
  logger: Pick<Logger, 'error'>;
}): Trimmer {
  const { trim, repair, metrics, logger } = options;
  /** By performance.now(); a stream without an entry is due. */
  const trimmedAtMs = new Map<string, number>();
  const known = new Map<string, string>();
  const behind = new Set<string>();

  function observe(key: string, position: string, isBehind: boolean): void {
    if (isBehind && !behind.has(key)) {
      logger.error(
        { stream: key, position },
        'the ids of a usage stream are behind its counted position; see docs/design/settlement.md',
      );
    }
    if (isBehind) behind.add(key);
    else behind.delete(key);
    metrics.behind.set(behind.size);
  }

  async function trimTo(stream: UsageStream, position: string): Promise<string | null> {
    const { key } = stream;
    const { outcome, trimmed } = await trim(stream, position, known.get(key));
    if (outcome === 'redis_set_back') {
      await repair.afterRedisRollback(stream, position);
      known.delete(key);
      return trimTo(stream, position);
    }
    observe(key, position, outcome === 'behind');
    if (outcome === 'trimmed') known.set(key, position);
    return outcome === 'ahead' ? trimmed : null;
  }

  async function trimOne(stream: UsageStream, positions: Map<string, string>): Promise<void> {
    const { key } = stream;
    const position = positions.get(key);
    if (position === undefined) return;
    // Before the reply: entries counted meanwhile make it due again.
    trimmedAtMs.set(key, performance.now());
    try {
      if ((await trimTo(stream, position)) !== null && positions.get(key) === position) positions.delete(key);
    } catch {
      // Redis or Postgres is unavailable; reading the stream reports it.
      trimmedAtMs.delete(key);
    }
  }

  return {
    markDue: (key) => trimmedAtMs.delete(key),
    trimmedUpTo: (key) => known.get(key),
    trimDue: async (streams, positions) => {
      const beforeMs = performance.now() - CHECK_INTERVAL_MS;
      const due = streams.filter(({ key }) => (trimmedAtMs.get(key) ?? -Infinity) <= beforeMs);
      await Promise.all(due.map((stream) => trimOne(stream, positions)));
    },
    startPosition: async (stream, { position, trimmed }) => {
      if (trimmed !== null) known.set(stream.key, trimmed);
      const ahead = await trimTo(stream, position);
      return ahead === null ? position : await repair.afterPostgresRollback(stream, ahead);
    },
    storeTrimmed: repair.storeTrimmed,
    retainOnly: (streams) => {
      for (const key of trimmedAtMs.keys()) if (!streams.has(key)) trimmedAtMs.delete(key);
      for (const key of known.keys()) if (!streams.has(key)) known.delete(key);
      for (const key of behind) if (!streams.has(key)) behind.delete(key);
      metrics.behind.set(behind.size);
    },
  };
}
