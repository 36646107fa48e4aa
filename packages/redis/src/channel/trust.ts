import type { Logger } from '@tollgate/log';

/**
 * What was true when a round began is relied on for this long after: together with what a call takes, nobody
 * acts on what has been out of date for a second, also where a connection is dead without a word.
 */
const TRUST_MS = 800;

/** So long without trust is worth a line in the log. */
const AWAY_AFTER_MS = 2_000;

/** For how long what was heard on a channel is all that there was to hear. */
export type Trust = {
  /** Counts losses: whoever finds it changed knows that one came between. */
  losses: () => number;
  lose: () => void;
  /** All that was published until then (performance.now()) has been passed on. A gap before it is a drop. */
  renew: (askedMs: number) => void;
  /** Writes one line where trust has been missing for long. */
  sayWhenAway: (error: unknown) => void;
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
      if (away) logger.info({ channel }, 'the Redis channel is followed again');
      away = false;
    },
    sayWhenAway: (error) => {
      if (away || performance.now() - lastMs < AWAY_AFTER_MS) return;
      away = true;
      logger.warn(
        { err: error, channel },
        'a Redis channel can’t be followed; nothing that depends on it is cached meanwhile',
      );
    },
  };
}
