/** A refresh token that isn't used for so long ends (docs/design/authorization.md). */
export const REFRESH_TOKEN_IDLE_SEC = 90 * 86_400;

/** For so long, a rotated token that comes again ends its connection. */
export const ROTATED_TOKEN_KEPT_SEC = 30 * 86_400;

/** When people have to consent again, in any case. */
export const CONNECTION_LIFETIME_SEC = 365 * 86_400;

/** Parallel requests of one application, or one whose answer was lost, present the same refresh token again. */
export const REPEATED_REFRESH_SEC = 30;

/** One person's of one application; beyond it the oldest ends. An application on several devices has several. */
export const MAX_CONNECTIONS_PER_APPLICATION = 20;
