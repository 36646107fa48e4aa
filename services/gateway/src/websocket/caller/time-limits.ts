import { Problem } from '@tollgate/http/problem';
import { endingOf, socketEnding } from '../ending.ts';
import type { Ending } from '../ending.ts';

export type TimeLimits = {
  /** From the upgrade to the acknowledgement of connection_init. */
  initTimeoutMs: number;
  /** Without an operation. */
  idleTimeoutMs: number;
  /** While more than a bound waits for a peer that doesn't read. */
  stallTimeoutMs: number;
};

/** `opened`: no connection_init has come. */
export type SocketPhase = 'opened' | 'initialising' | 'ready' | 'ended';

export type SocketTimes = {
  /** Until its token expires; null while there is none. */
  tokenLeftMs: number | null;
  phase: SocketPhase;
  openMs: number;
  idleMs: number;
  callerStalledMs: number;
  upstreamStalledMs: number;
};

/** What time has brought a socket to, if anything. */
export function endingByTime(limits: TimeLimits, socket: SocketTimes): Ending | null {
  const { initTimeoutMs, stallTimeoutMs, idleTimeoutMs } = limits;
  // At each look, so that no timer of a token's long life overflows.
  if (socket.tokenLeftMs !== null && socket.tokenLeftMs <= 0) {
    return endingOf(new Problem('unauthorized', { detail: 'The access token has expired' }));
  }
  if (socket.phase !== 'ready' && socket.openMs > initTimeoutMs) {
    return socket.tokenLeftMs === null && socket.phase === 'opened'
      ? endingOf(new Problem('unauthorized', { detail: 'No access token came in time' }))
      : socketEnding('connection_init_timeout');
  }
  if (socket.callerStalledMs > stallTimeoutMs) return socketEnding('slow_consumer');
  if (socket.upstreamStalledMs > stallTimeoutMs) return endingOf(new Problem('upstream_timeout'));
  return socket.idleMs > idleTimeoutMs ? socketEnding('idle_timeout') : null;
}
