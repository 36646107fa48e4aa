import type { LogFailure } from '../../data-call/failure-log.ts';
import type { RecordRefusal } from '../../refused-calls/refused-calls.ts';
import type { SettlementTimeout } from '../../metering/settlement/settle-call.ts';
import type { Ending } from '../ending.ts';
import type { Identity } from '../caller/identify.ts';
import type { OperationsOptions } from './operations.ts';
import type { Outlet } from '../outlet.ts';
import type { CallTimeouts } from './sent-operations.ts';
import type { StatedPoints } from './stated-points.ts';
import type { VisitUpstream } from '../upstream/upstream-addresses.ts';
import type { UpstreamSettings } from '../upstream/upstream-link.ts';
import type { UpstreamSideOptions } from '../upstream/upstream-side.ts';

export type OperationRelaySettings = CallTimeouts & {
  bufferMaxBytes: number;
  maxOperations: number;
  settleIntervalMs: number;
  pointsPerMinute: number;
  /** Of a result of a query or mutation for which the upstream states no price. */
  defaultPoints: number;
  subscriptionsOnly: boolean;
  upstream: UpstreamSettings;
};

export type OperationRelayParts = Pick<OperationsOptions, 'admit' | 'record' | 'prime'> & {
  settings: OperationRelaySettings;
  settlementTimeout: SettlementTimeout;
  statedPoints: StatedPoints;
  visitUpstream: VisitUpstream;
  /** Told of each message that is passed on. */
  onRelayed: (direction: 'to_caller' | 'to_upstream', bytes: number) => void;
  /** Told of operations that open (1) and end (-1). */
  onOperations: (change: 1 | -1) => void;
  /** Told of what failed on this side. */
  onFailure: LogFailure;
  /** Told of each operation, and each socket, that was refused or has failed. */
  recordRefusal: RecordRefusal;
};

/** One caller's socket, as far as its operations need it. */
export type RelayedSocket = Pick<
  UpstreamSideOptions,
  'protocol' | 'facts' | 'requestId' | 'trace' | 'initPayload' | 'caller'
> & {
  identity: Identity;
  toCaller: Pick<Outlet, 'send'>;
  end: (ending: Ending) => void;
  /** Ends it at a moment at which others of the same fate don't all end. */
  endSoon: (ending: Ending) => void;
};
