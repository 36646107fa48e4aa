import type { Logger } from '@tollgate/log';

/** Counted from a round's start, so that no call uses data that is outdated by a second, even on a dead connection. */
const TRUST_MS = 800;

/** Nothing has used the caches for so long: the next use waits for a proof instead (docs/design/operations.md). */
const REST_AFTER_MS = 5_000;

const LOGGED_GAP_MS = 2_000;

/** What a cache is told that follows a channel. */
export type CacheTrust = {
  /** Messages may have been missed, so the cache must be emptied. */
  onDropAll: () => void;
  /** The cache may be used until then (performance.now()); 0 ends trust at once. */
  trustUntil: (timeMs: number) => void;
  /** A cache without it rests with the others that follow by the same connections. */
  rest?:
    | {
        /** By performance.now(). */
        lastUsedMs: () => number;
        /** The cache may not be used until `trustUntil` is called, for which `wake` asks; what it keeps stays valid. */
        begin: (wake: () => Promise<void>) => void;
      }
    | undefined;
};

/** How long all messages of the channels are known to have arrived. */
export type Trust = {
  losses: () => number;
  lose: () => void;
  /** All messages up to then (performance.now()) were passed on; drops if trust had expired other than by a rest. */
  renew: (askedMs: number) => void;
  /** Ends trust until the next renewal. Only where a connection that was never lost can't have missed a message. */
  rest: (wake: () => Promise<void>) => void;
  mayRest: () => boolean;
  isTrusted: () => boolean;
  /** Logs once if trust has been missing for LOGGED_GAP_MS. */
  logGap: (error: unknown) => void;
};

export function createTrust(options: {
  channels: readonly string[];
  caches: readonly CacheTrust[];
  logger: Logger;
}): Trust {
  const { channels, caches, logger } = options;
  let untilMs = 0;
  let resting = false;
  let losses = 0;
  let lastMs = performance.now();
  let away = false;

  function trustUntil(timeMs: number): void {
    untilMs = timeMs;
    resting = false;
    for (const cache of caches) cache.trustUntil(timeMs);
  }

  return {
    losses: () => losses,
    lose: () => {
      losses += 1;
      trustUntil(0);
    },
    renew: (askedMs) => {
      if (askedMs > untilMs && !resting) for (const { onDropAll } of caches) onDropAll();
      trustUntil(askedMs + TRUST_MS);
      lastMs = askedMs;
      if (away) logger.info({ channels }, 'subscribed to the Redis channels again');
      away = false;
    },
    rest: (wake) => {
      untilMs = 0;
      resting = true;
      for (const { rest } of caches) rest?.begin(wake);
    },
    mayRest: () => {
      const nowMs = performance.now();
      const rests = caches.flatMap(({ rest }) => rest ?? []);
      const unused = rests.filter(({ lastUsedMs }) => nowMs - lastUsedMs() >= REST_AFTER_MS);
      // Without caches, nothing depends on trust.
      const hasRest = rests.length > 0 || caches.length === 0;
      return nowMs < untilMs && hasRest && unused.length === rests.length;
    },
    isTrusted: () => performance.now() < untilMs,
    logGap: (error) => {
      if (away || performance.now() - lastMs < LOGGED_GAP_MS) return;
      away = true;
      logger.warn(
        { err: error, channels },
        'cannot subscribe to Redis channels; the caches that depend on them are not used',
      );
    },
  };
}
