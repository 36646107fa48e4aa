import type { WebSocket } from 'ws';
import type { LogFailure } from '../../refusals/failure-log.ts';
import type { RecordRefusal } from '../../refusals/refused-calls.ts';
import type { SocketTrace } from '../../trace/socket-trace.ts';
import type { OperationsSocket, SocketOperations } from '../operations/socket-operations.ts';
import type { Protocol } from '../protocol/protocol.ts';
import type { UpgradeFacts } from '../upstream/upstream-upgrade.ts';
import type { Identify, SocketPrincipal } from './identify.ts';
import type { TimeLimits } from './time-limits.ts';

export type CallerSocketSettings = TimeLimits & {
  pingIntervalMs: number;
  maxMessagesPerSec: number;
  /** Of operations that come before the acknowledgement of connection_init. */
  maxOperations: number;
  /** Of messages that wait for the caller. */
  bufferMaxBytes: number;
  /** Sockets that close together are spread over this time, so that callers don't all reconnect at once. */
  reconnectSpreadMs: number;
  /** What a subscription costs, which the acknowledgement tells: each minute, and at which path messages state more. */
  price: { pointsPerMinute: number; pointsExtension: string };
};

export type SocketReports = {
  /** Called for failures of the service (5xx). */
  logFailure: LogFailure;
  recordRefusal: RecordRefusal;
};

export type CallerSocketOptions<Socket> = {
  settings: CallerSocketSettings;
  openOperations: (socket: OperationsSocket) => SocketOperations;
  reports: SocketReports;
  identify: Identify;
  /** Called with the principal of a token in connection_init. @throws {Problem} if its account has too many sockets. */
  onIdentified: (socket: Socket, principal: SocketPrincipal) => void;
};

export type UpgradedSocket = {
  socket: WebSocket;
  protocol: Protocol;
  facts: UpgradeFacts;
  requestId: string;
  trace: SocketTrace | null;
  /** The address, or group of addresses, that the socket counts for. */
  address: string;
  /** Null if connection_init has to bring the token. */
  principal: SocketPrincipal | null;
};
