import type { Logger } from '@tollgate/log';

/** Counted from a round's start, so that no call uses data that is outdated by a second, even on a dead connection. */
const TRUST_MS = 800;

const LOGGED_GAP_MS = 2_000;

/** How long all messages of a channel are known to have arrived. */
export type Trust = {
  losses: () => number;
  lose: () => void;
  /** All messages up to then (performance.now()) were passed on; drops if trust had expired. */
  renew: (askedMs: number) => void;
  /** Logs once if trust has been missing for LOGGED_GAP_MS. */
  logGap: (error: unknown) => void;
};

export function createTrust(options: {
  channel: string;
  onDropAll: () => void;
  trustUntil: (timeMs: number) => void;
  logger: Logger;
}): Trust {
  const { channel, onDropAll, trustUntil, logger } = options;
  let untilMs = 0;
  let losses = 0;
  let lastMs = performance.now();
  let away = false;
  return {
    losses: () => losses,
    lose: () => {
      losses += 1;
      untilMs = 0;
      trustUntil(0);
    },
    renew: (askedMs) => {
      if (askedMs > untilMs) onDropAll();
      untilMs = askedMs + TRUST_MS;
      trustUntil(untilMs);
      lastMs = askedMs;
      if (away) logger.info({ channel }, 'subscribed to the Redis channel again');
      away = false;
    },
    logGap: (error) => {
      if (away || performance.now() - lastMs < LOGGED_GAP_MS) return;
      away = true;
      logger.warn(
        { err: error, channel },
        'cannot subscribe to a Redis channel; the caches that depend on it are not used',
      );
    },
  };
}
