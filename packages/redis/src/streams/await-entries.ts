import { Cluster } from 'ioredis';
import type { RedisConnection } from '../redis.ts';

/** Ids after which new entries are awaited, by stream. */
export type StreamIds = ReadonlyMap<string, string>;

export type EntryWatch = {
  /**
   * Whether a stream has an entry after its id; false after about BLOCK_MS, or `limitMs`, without one. @throws if Redis
   * is unavailable
   */
  wait: (after: StreamIds, limitMs?: number) => Promise<boolean>;
  /** Ends a wait, which throws. */
  close: () => void;
};

/** The usage reader counts as stuck after three seconds without the end of a wait. */
const BLOCK_MS = 2_500;

/** A wait that would end so soon lasts one BLOCK_MS longer. */
const MIN_BLOCK_MS = 100;

/** How long after it a connection without a reply counts as dead. */
const HANG_MARGIN_MS = 1_000;

/** All waits of a process end at the same moments, so that it is woken once for them (ADR 0076). */
function untilCommonEndMs(): number {
  const leftMs = BLOCK_MS - (performance.now() % BLOCK_MS);
  return leftMs < MIN_BLOCK_MS ? leftMs + BLOCK_MS : leftMs;
}

/**
 * Waits for entries of several streams by one blocking command, on a connection of its own. Undefined in a Redis
 * Cluster, where the streams are on several servers.
 */
export function openEntryWatch(redis: RedisConnection): EntryWatch | undefined {
  if (redis instanceof Cluster) return undefined;
  const timeoutMs = BLOCK_MS + MIN_BLOCK_MS + HANG_MARGIN_MS;
  const connection = redis.duplicate({
    commandTimeout: timeoutMs,
    socketTimeout: timeoutMs + HANG_MARGIN_MS,
  });
  // `redis` reports the same outage.
  connection.on('error', () => undefined);
  return {
    wait: async (after, limitMs = BLOCK_MS) => {
      // 0 would wait forever.
      const blockMs = Math.max(1, Math.ceil(Math.min(limitMs, untilCommonEndMs())));
      const streams = [...after.keys()];
      const ids = [...after.values()];
      const entries = await connection.xread('COUNT', 1, 'BLOCK', blockMs, 'STREAMS', ...streams, ...ids);
      return entries !== null;
    },
    close: () => {
      connection.disconnect();
    },
  };
}
