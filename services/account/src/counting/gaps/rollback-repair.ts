import type { Knex } from 'knex';
import type { Counter } from 'prom-client';
import type { Logger } from '@tollgate/log';
import type { RedisConnection } from '@tollgate/redis';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { adoptGrowth } from '../../platform/usage-lanes.ts';
import { insertRestore, insertRollback } from './gaps.ts';
import { ensurePartitions } from '../retention/partitions.ts';
import { lockLanePositions, storePositions } from '../stream/positions.ts';
import { createRecoverPeriods } from './recover-periods.ts';
import type { LockedLane, RecoverPeriods } from './recover-periods.ts';
import { FIRST_STREAM_ID, compareStreamIds, streamIdMs } from '../stream/stream-id.ts';
import type { UsageStream } from '../stream/trim-script.ts';

/**
 * What to do if Redis or Postgres has been rolled back to an earlier state and the other has not
 * (docs/design/counting.md).
 */
export type RollbackRepair = {
  /** Reports that Redis has lost entries, and continues with what it has. */
  afterRedisRollback: (stream: UsageStream, position: string) => Promise<void>;
  /**
   * Redis is trimmed beyond the loaded position: another reader has counted meanwhile, or Postgres was rolled back.
   * Returns where to continue reading.
   */
  afterPostgresRollback: (stream: UsageStream, trimmed: string) => Promise<string>;
  /** By stream; of those that Postgres knows nothing of. */
  storeTrimmed: (positions: ReadonlyMap<string, string>) => Promise<void>;
};

const MAX_AHEAD_MS = 86_400_000;

/** Any number that nothing else locks in this database. */
const SKIP_LOCK = 7_462_005;

/** More ids than are assigned between a backup and its restore. */
const SKIPPED_IDS = 1_000_000;

export function createRollbackRepair(options: {
  database: Knex;
  redis: ScriptableRedis & Pick<RedisConnection, 'get'>;
  metrics: { gaps: Pick<Counter<'cause'>, 'inc'> };
  logger: Pick<Logger, 'error'>;
}): RollbackRepair {
  const { database, redis, metrics, logger } = options;
  const transact = createTransact(database);
  const recoverPeriods = createRecoverPeriods(redis);

  return {
    afterRedisRollback: async ({ key: stream }, position) => {
      await transact(async (query) => {
        await query('DELETE FROM usage_stream_trims WHERE stream = :stream', { stream });
        await insertRollback(query, { cause: 'redis_set_back', stream, after_entry: position });
      });
      metrics.gaps.inc({ cause: 'redis_set_back' });
      logger.error(
        { stream, after_entry: position },
        'Redis has lost entries of a usage stream; uncounted ones are missing; see tollgate usage gaps',
      );
    },

    afterPostgresRollback: async (stream, trimmed) => {
      await ensurePartitions(database, [Date.now()]);
      await adoptGrowth(createQuery(database), redis);
      const found = await transact(async (query) => {
        const locked = await lockLane(query, stream);
        const { stored } = locked;
        if (compareStreamIds(stored, trimmed) >= 0) return { position: stored };
        if (isImplausible(trimmed)) {
          const told = `${stream.key} is trimmed up to ${trimmed}, which is in the future; run tollgate usage repair`;
          throw new Error(told);
        }
        await skipUsedIdsOnce(query);
        return {
          position: trimmed,
          gap: await recoverStream(query, recoverPeriods, locked, trimmed),
        };
      });
      if (found.gap !== undefined) {
        metrics.gaps.inc({ cause: 'postgres_set_back' });
        logger.error(
          found.gap,
          'Postgres has been restored to an earlier state: counted entries of a usage stream are missing, except for what was recovered from live counters; see tollgate usage gaps',
        );
      }
      return found.position;
    },

    storeTrimmed: async (positions) => {
      // In one order, so that readers that begin at the same time wait for each other.
      const reached = [...positions].toSorted(([one], [other]) => (one < other ? -1 : 1));
      await createQuery(database)(
        `INSERT INTO usage_stream_trims (stream, trimmed)
         SELECT * FROM unnest(CAST(:streams AS text[]), CAST(:trimmed AS text[]))
         ON CONFLICT (stream) DO NOTHING`,
        { streams: reached.map(([stream]) => stream), trimmed: reached.map(([, trimmed]) => trimmed) },
      );
    },
  };
}

/** Redis' clock is never this far ahead: account did not write this position. */
export function isImplausible(trimmed: string): boolean {
  return streamIdMs(trimmed) > Date.now() + MAX_AHEAD_MS;
}

/** Recovers what was counted between the stream's stored position and `trimmed`, and moves the position. */
export async function recoverStream(
  query: Query,
  recoverPeriods: RecoverPeriods,
  { key, stored, ...locked }: LockedStream,
  trimmed: string,
) {
  const positions = new Map(locked.positions).set(key, trimmed);
  const { usage: recovered } = await recoverPeriods(query, { ...locked, positions }, 'all');
  const gap = { stream: key, after_entry: stored, last_entry: trimmed, recovered };
  await insertRollback(query, { cause: 'postgres_set_back', ...gap });
  await insertRestore(query, key);
  const reached = new Map([[key, trimmed]]);
  await storePositions(query, reached, reached);
  return gap;
}

/** `stored`: the stream's own position. */
type LockedStream = UsageStream & LockedLane & { stored: string };

/** Keeps the usage reader from all that has usage of the lane's payers. */
export async function lockLane(query: Query, stream: UsageStream): Promise<LockedStream> {
  const locked = await lockLanePositions(query, stream.lane);
  return { ...stream, ...locked, stored: locked.positions.get(stream.key) ?? FIRST_STREAM_ID };
}

/** Runs once for all streams of a restore, which are detected within seconds of one another. */
async function skipUsedIdsOnce(query: Query): Promise<void> {
  await query('SELECT pg_advisory_xact_lock(:lock)', { lock: SKIP_LOCK });
  const [recent] = await query(
    `SELECT FROM usage_gaps
     WHERE cause = 'postgres_set_back' AND seen_at > clock_timestamp() - interval '10 seconds' LIMIT 1`,
  );
  if (recent === undefined) await skipUsedIds(query);
}

/**
 * Redis, tokens and other systems know ids assigned between the backup and its restore: they must not be assigned
 * again.
 */
export async function skipUsedIds(query: Query): Promise<void> {
  await query(
    `SELECT setval(CAST(format('%I.%I', schemaname, sequencename) AS regclass), coalesce(last_value, 1) + :skipped)
     FROM pg_sequences
     WHERE schemaname = current_schema() AND data_type = CAST('bigint' AS regtype)`,
    { skipped: SKIPPED_IDS },
  );
}
