import type { WebSocket } from 'ws';
import type { SocketTrace } from '../../trace/socket-trace.ts';
import type { Identify, Identity } from './identify.ts';
import type { Protocol } from '../protocol.ts';
import type { OperationRelayParts, OperationRelaySettings } from '../operations/relay-parts.ts';
import type { TimeLimits } from './time-limits.ts';
import type { UpgradeFacts } from '../upstream/upstream-opening.ts';

export type CallerSocketSettings = OperationRelaySettings &
  TimeLimits & {
    pingIntervalMs: number;
    maxMessagesPerSec: number;
    /** Sockets that end together end within this, so that their callers don't all come back at one moment. */
    reconnectSpreadMs: number;
  };

export type CallerSocketParts<Socket> = Omit<OperationRelayParts, 'settings'> & {
  settings: CallerSocketSettings;
  identify: Identify;
  /** Told of an identity that came by connection_init. @throws {Problem} where it has too many sockets. */
  onIdentified: (socket: Socket, identity: Identity) => void;
};

export type OpenedSocket = {
  socket: WebSocket;
  protocol: Protocol;
  facts: UpgradeFacts;
  requestId: string;
  trace: SocketTrace | null;
  /** What the caller's address is counted by. */
  address: string;
  /** Null where connection_init has to bring the token. */
  identity: Identity | null;
};
