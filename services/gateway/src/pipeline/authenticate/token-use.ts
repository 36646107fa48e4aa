import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { Problem } from '@tollgate/http/problem';

/** A WebSocket or a stream that is open for a token. */
export type TokenUse = {
  token: string;
  active: ActiveToken;
  requestId: string;
  /** Called at most once, if the token is dead or can't be rechecked. */
  end: (problem: Problem) => void;
};

/** `goodAtMs`: when the token was last known to be active (performance.now()). */
export type WatchedUse = TokenUse & { goodAtMs: number };
