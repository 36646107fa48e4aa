import { Cluster } from 'ioredis';
import type { RedisConnection } from '../redis.ts';

/** Ids after which new entries are awaited, by stream. */
export type StreamIds = ReadonlyMap<string, string>;

export type EntryWatch = {
  /** Whether a stream has an entry after its id; false after BLOCK_MS without one. @throws if Redis is unavailable */
  wait: (after: StreamIds) => Promise<boolean>;
  /** Ends a wait, which throws. There may be others later. */
  interrupt: () => void;
  /** Ends a wait, which throws, for good. */
  close: () => void;
};

/** Each end of a wait wakes the process; the usage reader counts as stuck after three seconds without one. */
const BLOCK_MS = 2_500;

/** How long after it a connection without a reply counts as dead. */
const HANG_MARGIN_MS = 1_000;

/**
 * Waits for entries of several streams by one blocking command, on a connection of its own. Undefined in a Redis
 * Cluster, where the streams are on several servers.
 */
export function openEntryWatch(redis: RedisConnection): EntryWatch | undefined {
  if (redis instanceof Cluster) return undefined;
  const timeoutMs = BLOCK_MS + HANG_MARGIN_MS;
  const connection = redis.duplicate({
    commandTimeout: timeoutMs,
    socketTimeout: timeoutMs + HANG_MARGIN_MS,
  });
  // `redis` reports the same outage.
  connection.on('error', () => undefined);
  return {
    wait: async (after) => {
      const streams = [...after.keys()];
      const ids = [...after.values()];
      const entries = await connection.xread('COUNT', 1, 'BLOCK', BLOCK_MS, 'STREAMS', ...streams, ...ids);
      return entries !== null;
    },
    // CLIENT UNBLOCK, on another connection, could come before the wait.
    interrupt: () => {
      connection.disconnect(true);
    },
    close: () => {
      connection.disconnect();
    },
  };
}
