/** Settings (docs/design/authorization.md). */
export type ConnectionLifetimes = {
  /** A refresh token that isn't used for so long ends. */
  refreshTokenIdleSec: number;
  /** When people have to consent again, in any case. */
  connectionSec: number;
};

/** For so long, a rotated token that comes again ends its connection. */
export const ROTATED_TOKEN_KEPT_SEC = 30 * 86_400;

/** And so many of a connection, which a client that refreshes all the time would otherwise add to without an end. */
export const ROTATED_TOKENS_KEPT = 1_000;

/** Parallel requests of one application, or one whose answer was lost, present the same refresh token again. */
export const REPEATED_REFRESH_SEC = 30;

/** One person's of one application; beyond it the oldest ends. An application on several devices has several. */
export const MAX_CONNECTIONS_PER_APPLICATION = 20;

/** Access tokens of connections. */
export const ACCESS_TOKEN_LIFESPAN_MIN_SEC = 60;
export const DELEGATED_TOKEN_LIFESPAN_MAX_SEC = 86_400;
