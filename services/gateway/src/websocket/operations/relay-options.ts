import type { LogFailure } from '../../data-call/failure-log.ts';
import type { RecordRefusal } from '../../refused-calls/refused-calls.ts';
import type { OperationReader } from '../../operation-reader/operation-reader.ts';
import type { SettlementTimeout } from '../../metering/settlement/settle-call.ts';
import type { SocketClose } from '../protocol/close-codes.ts';
import type { Principal } from '../../metering/principal.ts';
import type { OperationsOptions } from './operations.ts';
import type { SendBuffer } from '../connection/send-buffer.ts';
import type { CallTimeouts } from './sent-operations.ts';
import type { StatedPoints } from './stated-points.ts';
import type { ChooseAddress } from '../upstream/upstream-addresses.ts';
import type { UpstreamSettings } from '../upstream/upstream-socket.ts';
import type { UpstreamConnectorOptions } from '../upstream/upstream-connector.ts';

export type OperationRelaySettings = CallTimeouts & {
  bufferMaxBytes: number;
  maxOperations: number;
  settleIntervalMs: number;
  pointsPerMinute: number;
  defaultPoints: number;
  subscriptionsOnly: boolean;
  upstream: UpstreamSettings;
};

export type OperationRelayOptions = Pick<OperationsOptions, 'admit' | 'record' | 'prime'> & {
  settings: OperationRelaySettings;
  reader: Pick<OperationReader, 'typeOf'>;
  settlementTimeout: SettlementTimeout;
  statedPoints: StatedPoints;
  chooseAddress: ChooseAddress;
  onRelayed: (direction: 'to_caller' | 'to_upstream', bytes: number) => void;
  onOperations: (change: 1 | -1) => void;
  /** Called for failures of the service (5xx). */
  onFailure: LogFailure;
  recordRefusal: RecordRefusal;
};

export type RelayedSocket = Pick<
  UpstreamConnectorOptions,
  'protocol' | 'facts' | 'requestId' | 'trace' | 'initPayload' | 'caller'
> & {
  principal: Principal;
  toCaller: Pick<SendBuffer, 'send'>;
  end: (close: SocketClose) => void;
  /** Closes it at a random moment, spread against other sockets that close for the same reason. */
  endSoon: (close: SocketClose) => void;
};
