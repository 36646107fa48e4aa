import { Problem } from '@tollgate/http/problem';
import { closeFor, gatewayClose } from '../protocol/close-codes.ts';
import type { SocketClose } from '../protocol/close-codes.ts';

export type TimeLimits = {
  /** From the upgrade to the acknowledgement of connection_init. */
  initTimeoutMs: number;
  idleTimeoutMs: number;
  /** While too much waits for a peer that doesn't read. */
  stallTimeoutMs: number;
};

/** `opened`: no connection_init has come. */
export type SocketPhase = 'opened' | 'initialising' | 'ready' | 'ended';

export type SocketTimes = {
  tokenLeftMs: number | null;
  phase: SocketPhase;
  openMs: number;
  idleMs: number;
  callerStalledMs: number;
  upstreamStalledMs: number;
};

export function closeByTime(limits: TimeLimits, socket: SocketTimes): SocketClose | null {
  const { initTimeoutMs, stallTimeoutMs, idleTimeoutMs } = limits;
  // Checked here because a timer would overflow with the lifetime of long-lived tokens.
  if (socket.tokenLeftMs !== null && socket.tokenLeftMs <= 0) {
    return closeFor(new Problem('unauthorized', { detail: 'The access token has expired' }));
  }
  if (socket.phase !== 'ready' && socket.openMs > initTimeoutMs) {
    return socket.tokenLeftMs === null && socket.phase === 'opened'
      ? closeFor(new Problem('unauthorized', { detail: 'No access token was received in time' }))
      : gatewayClose('connection_init_timeout');
  }
  if (socket.callerStalledMs > stallTimeoutMs) return gatewayClose('slow_consumer');
  if (socket.upstreamStalledMs > stallTimeoutMs) return closeFor(new Problem('upstream_timeout'));
  return socket.idleMs > idleTimeoutMs ? gatewayClose('idle_timeout') : null;
}
