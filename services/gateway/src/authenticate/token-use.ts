import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { Problem } from '@tollgate/http/problem';

/** Something that stays open for a token: a WebSocket, or a stream. */
export type TokenUse = {
  token: string;
  active: ActiveToken;
  requestId: string;
  /** Told at most once that the token is dead, or that nobody can say any more that it isn't. */
  end: (problem: Problem) => void;
};

/** A use and when its token was last known to be good (performance.now()). */
export type WatchedUse = TokenUse & { goodAtMs: number };
