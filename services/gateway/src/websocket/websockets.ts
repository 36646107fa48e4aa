import type { Registry } from 'prom-client';
import type { AccessLog } from '@tollgate/log/access-log';
import type { Introspector } from '@tollgate/introspection';
import type { AddressOf } from '@tollgate/http/error-handler';
import type { UpgradeHandler } from '@tollgate/server/listener';
import type { Admit } from '../admission/admission.ts';
import type { Entitle } from '../entitle/entitle.ts';
import type { LogFailure } from '../data-call/failure-log.ts';
import type { EjectionRules } from '../forward/upstream/ejection.ts';
import type { UpstreamObserver } from '../forward/upstream/upstream-metrics.ts';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import type { Prime } from '../metering/live-usage/prime.ts';
import type { RecordRefusal } from '../refused-calls/refused-calls.ts';
import type { SettlementTimeout } from '../metering/settlement/settle-call.ts';
import type { RecordUsage } from '../metering/settlement/record-usage.ts';
import type { TokenWatch } from '../authenticate/token-watch.ts';
import type { Traces } from '../trace/traces.ts';
import type { CallerSocketSettings } from './caller/caller-socket-options.ts';
import { createWebSocketMetrics } from './metrics.ts';
import { createOpenSockets } from './caller/open-sockets.ts';
import type { OpenSockets } from './caller/open-sockets.ts';
import type { SocketLimits } from './caller/socket-index.ts';
import type { OperationRelayOptions } from './operations/relay-options.ts';
import { createStatedPoints } from './operations/stated-points.ts';
import { createUpgradeHandler } from './caller/upgrade.ts';
import { createUpstreamAddresses } from './upstream/upstream-addresses.ts';

export type WebSocketsOptions = {
  path: string;
  upstreamUrls: readonly string[];
  ejection: EjectionRules;
  upstreamObserver: UpstreamObserver;
  trusts: TrustsAddress;
  addressOf: AddressOf;
  allowsOrigin: ((origin: string) => boolean) | null;
  traces: Traces;
  reader: OperationRelayOptions['reader'];
  maxMessageBytes: number;
  limits: SocketLimits;
  socket: CallerSocketSettings;
  introspect: Introspector['introspect'];
  tokenWatch: TokenWatch;
  entitle: Entitle;
  admit: Admit;
  record: RecordUsage;
  prime: Prime;
  settlementTimeout: SettlementTimeout;
  /** The path below `extensions` at which the upstream states a message's points. */
  pointsExtension: string;
  logFailure: LogFailure;
  recordRefusal: RecordRefusal;
  accessLog: Pick<AccessLog, 'note'> | null;
  registry: Registry;
};

/** The data endpoint as a WebSocket (ADR 0021). */
export function createWebSockets(options: WebSocketsOptions): {
  upgradeHandler: UpgradeHandler;
} & Pick<OpenSockets, 'drain'> {
  const { admit, record, prime, reader, logFailure, recordRefusal } = options;
  const metrics = createWebSocketMetrics(options.registry);
  const sockets = createOpenSockets({
    introspect: options.introspect,
    tokenWatch: options.tokenWatch,
    entitle: options.entitle,
    limits: options.limits,
    parts: {
      settings: options.socket,
      admit,
      record,
      prime,
      reader,
      settlementTimeout: options.settlementTimeout,
      statedPoints: createStatedPoints(options.pointsExtension),
      chooseAddress: createUpstreamAddresses(
        options.upstreamUrls,
        options.ejection,
        options.upstreamObserver,
      ),
      onRelayed: metrics.onRelayed,
      onOperations: metrics.onOperations,
      onFailure: logFailure,
      recordRefusal,
    },
    onClosed: metrics.onClosed,
  });
  metrics.observeSockets(sockets.size);
  const upgradeHandler = createUpgradeHandler({
    path: options.path,
    sockets,
    trusts: options.trusts,
    addressOf: options.addressOf,
    allowsOrigin: options.allowsOrigin,
    traces: options.traces,
    maxMessageBytes: options.maxMessageBytes,
    onUpgrade: metrics.onUpgrade,
    logFailure,
    recordRefusal,
    accessLog: options.accessLog,
  });
  return { upgradeHandler, drain: sockets.drain };
}
