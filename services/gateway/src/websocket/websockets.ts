import type { Registry } from 'prom-client';
import type { UpgradeHandler } from '@tollgate/server/listener';
import type { EjectionRules } from '../pipeline/forward/upstream/ejection.ts';
import type { UpstreamObserver } from '../pipeline/forward/upstream/metrics.ts';
import type { OnCompared, SettlementTimeout } from '../pipeline/settle/settle-call.ts';
import type { CheckPrice } from '../estimate/check-price.ts';
import type { EstimateRate } from '../estimate/estimate-rate.ts';
import type { ReaderOf } from '../operation-reader/readers-of-plans.ts';
import type { DocumentsOf } from '../operation-reader/open-stored-documents.ts';
import type { CallerSocketSettings, SocketReports } from './caller/caller-socket-options.ts';
import { createOpenSockets } from './caller/open-sockets.ts';
import type { OpenSockets, OpenSocketsOptions } from './caller/open-sockets.ts';
import type { SocketLimits } from './caller/socket-index.ts';
import { createUpgradeHandler } from './caller/upgrade.ts';
import type { UpgradeOptions } from './caller/upgrade.ts';
import { createWebSocketMetrics } from './metrics.ts';
import type { OperationMetering } from './operations/open-operations.ts';
import { SocketOperations } from './operations/socket-operations.ts';
import type { OperationRules, OperationServices } from './operations/socket-operations.ts';
import { createStatedPoints } from './operations/stated-points.ts';
import { createUpstreamAddresses } from './upstream/upstream-addresses.ts';
import { createOpenUpstream } from './upstream/upstream-connector.ts';
import type { UpstreamSettings } from './upstream/upstream-socket.ts';

export type WebSocketsSettings = {
  path: string;
  maxMessageBytes: number;
  limits: SocketLimits;
  socket: CallerSocketSettings;
  operations: OperationRules;
  metering: Pick<OperationMetering, 'settleIntervalMs' | 'pointsPerMinute'>;
  /** What a result costs for which the upstream states no points. */
  defaultPoints: number;
  /** The path below `extensions` at which the upstream states a message's points. */
  pointsExtension: string;
  upstream: { urls: readonly string[]; ejection: EjectionRules; connection: UpstreamSettings };
};

export type WebSocketsOptions = {
  settings: WebSocketsSettings;
  upstreamObserver: UpstreamObserver;
  readerOf: ReaderOf;
  documentsOf: DocumentsOf;
  checkPrice: CheckPrice;
  missingPoints: OperationServices['missingPoints'];
  estimateRate: EstimateRate;
  settlementTimeout: SettlementTimeout;
  onCompared: OnCompared;
  registry: Registry;
} & Pick<UpgradeOptions, 'trusts' | 'addressOf' | 'allowsOrigin' | 'traces' | 'accessLog'> &
  Pick<OpenSocketsOptions, 'introspect' | 'tokenWatch' | 'entitle'> &
  Pick<OperationMetering, 'admit' | 'record' | 'primePayer' | 'readPointsLeft'> &
  SocketReports;

/** The data endpoint as a WebSocket; README.md tells how it works. */
export function createWebSockets(options: WebSocketsOptions): {
  upgradeHandler: UpgradeHandler;
} & Pick<OpenSockets, 'drain'> {
  const { settings, admit, record, primePayer, readPointsLeft, settlementTimeout, onCompared } = options;
  const { logFailure, recordRefusal } = options;
  const { urls, ejection, connection } = settings.upstream;
  const metrics = createWebSocketMetrics(options.registry);
  const addresses = createUpstreamAddresses(urls, ejection, options.upstreamObserver);
  const services: OperationServices = {
    rules: settings.operations,
    readOne: (payload, rules) => options.readerOf(rules).readOne(payload),
    documentsOf: options.documentsOf,
    checkPrice: options.checkPrice,
    missingPoints: options.missingPoints,
    estimateRate: options.estimateRate,
    metering: {
      ...settings.metering,
      admit,
      record,
      primePayer,
      readPointsLeft,
      settlementTimeout,
      onCompared,
    },
    pricing: {
      statedPoints: createStatedPoints(settings.pointsExtension),
      defaultPoints: settings.defaultPoints,
    },
    openUpstream: createOpenUpstream(connection, addresses),
    counts: metrics,
  };
  const sockets = createOpenSockets({
    introspect: options.introspect,
    tokenWatch: options.tokenWatch,
    entitle: options.entitle,
    limits: settings.limits,
    socket: {
      settings: settings.socket,
      openOperations: (socket) => new SocketOperations(services, socket),
      reports: { logFailure, recordRefusal },
    },
    onClosed: metrics.onClosed,
  });
  metrics.observeSockets(sockets.size);
  const upgradeHandler = createUpgradeHandler({
    path: settings.path,
    sockets,
    trusts: options.trusts,
    addressOf: options.addressOf,
    allowsOrigin: options.allowsOrigin,
    traces: options.traces,
    maxMessageBytes: settings.maxMessageBytes,
    onUpgrade: metrics.onUpgrade,
    logFailure,
    recordRefusal,
    accessLog: options.accessLog,
  });
  return { upgradeHandler, drain: sockets.drain };
}
