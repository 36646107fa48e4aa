import { DATA_PATH } from './app.ts';
import type { Config } from './config.ts';
import type { EjectionRules } from './pipeline/forward/upstream/ejection.ts';
import type { ReadDataCallOptions } from './operation-reader/read-call.ts';
import type { ForwarderOptions } from './pipeline/forward/forward.ts';
import type { ProxyOptions } from './passed-on/proxy.ts';
import type { WebSocketsSettings } from './websocket/websockets.ts';

/** Requests that wait for a connection, for each connection. */
const WAITING_PER_CONNECTION = 4;

/** What the forwarder takes of the settings. */
export function forwarding(
  config: Config,
): Omit<ForwarderOptions, 'urls' | 'observer' | 'trusts' | 'cors' | 'logger' | 'streamSlots'> {
  return {
    connections: config.UPSTREAM_CONNECTIONS,
    connectionsPerPayer: config.UPSTREAM_CONNECTIONS_PER_PAYER,
    maxWaiting: WAITING_PER_CONNECTION * config.UPSTREAM_CONNECTIONS,
    connectTimeoutMs: config.UPSTREAM_CONNECT_TIMEOUT_MS,
    headersTimeoutMs: config.UPSTREAM_HEADERS_TIMEOUT_MS,
    bodyIdleTimeoutMs: config.UPSTREAM_BODY_IDLE_TIMEOUT_MS,
    wholeTimeoutMs: config.UPSTREAM_WHOLE_TIMEOUT_MS,
    keepAliveMs: config.UPSTREAM_KEEP_ALIVE_MS,
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
    plainHttp: config.PLAIN_HTTP === 'on',
    callsPerConnection: config.UPSTREAM_CALLS_PER_CONNECTION,
    ejection: ejectionRules(config),
    defaultPoints: config.DEFAULT_POINTS,
  };
}

/** What the plain routes take of the settings. */
export function plainRouteSettings(config: Config) {
  return {
    timeoutMs: config.PLAIN_ROUTE_TIMEOUT_MS,
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
    plainHttp: config.PLAIN_HTTP === 'on',
    connections: config.PLAIN_ROUTE_CONNECTIONS,
    maxWaiting: WAITING_PER_CONNECTION * config.PLAIN_ROUTE_CONNECTIONS,
    maxOpenPerAddress: config.PLAIN_ROUTE_MAX_OPEN_PER_ADDRESS,
    maxBodyBytes: config.PLAIN_ROUTE_MAX_BODY_BYTES,
    bodyTimeoutMs: config.PLAIN_ROUTE_BODY_TIMEOUT_MS,
    maxArriving: WAITING_PER_CONNECTION * config.PLAIN_ROUTE_CONNECTIONS,
    slowReaderMs: config.PLAIN_ROUTE_SLOW_READER_MS,
  } satisfies Partial<ProxyOptions>;
}

function ejectionRules(config: Config): EjectionRules {
  return {
    afterFailures: config.UPSTREAM_EJECTION_FAILURES,
    minMs: config.UPSTREAM_EJECTION_MIN_MS,
    maxMs: config.UPSTREAM_EJECTION_MAX_MS,
  };
}

/** Of the connections to the upstream, the part that uploads may hold while their callers send them. */
const PART_OF_UPLOADS = 4;

/** What is read of calls before they are admitted. */
export function reading(config: Config): Omit<ReadDataCallOptions, 'reader'> {
  return {
    body: {
      maxBytes: config.MAX_REQUEST_BODY_BYTES,
      idleTimeoutMs: config.UPSTREAM_BODY_IDLE_TIMEOUT_MS,
      totalTimeoutMs: config.REQUEST_BODY_TIMEOUT_MS,
    },
    bodiesMaxBytes: config.REQUEST_BODIES_MAX_BYTES,
    maxUploads:
      config.GRAPHQL_UPLOADS === 'on' ? Math.ceil(config.UPSTREAM_CONNECTIONS / PART_OF_UPLOADS) : 0,
  };
}

/** What the WebSockets take of the settings. */
export function webSocketSettings(config: Config): WebSocketsSettings {
  return {
    path: DATA_PATH,
    maxMessageBytes: config.WEBSOCKET_MAX_MESSAGE_BYTES,
    limits: {
      maxSockets: config.WEBSOCKET_MAX_SOCKETS,
      maxSocketsPerAccount: config.WEBSOCKET_MAX_SOCKETS_PER_ACCOUNT,
      maxUnidentified: config.WEBSOCKET_MAX_UNIDENTIFIED,
      maxUnidentifiedPerAddress: config.WEBSOCKET_MAX_UNIDENTIFIED_PER_ADDRESS,
    },
    socket: {
      initTimeoutMs: config.WEBSOCKET_INIT_TIMEOUT_MS,
      idleTimeoutMs: config.WEBSOCKET_IDLE_TIMEOUT_MS,
      pingIntervalMs: config.WEBSOCKET_PING_INTERVAL_MS,
      stallTimeoutMs: config.WEBSOCKET_STALL_TIMEOUT_MS,
      bufferMaxBytes: config.WEBSOCKET_BUFFER_MAX_BYTES,
      maxOperations: config.WEBSOCKET_MAX_OPERATIONS,
      maxMessagesPerSec: config.WEBSOCKET_MAX_MESSAGES_PER_SEC,
      reconnectSpreadMs: config.WEBSOCKET_RECONNECT_SPREAD_MS,
    },
    operations: {
      maxOperations: config.WEBSOCKET_MAX_OPERATIONS,
      subscriptionsOnly: config.WEBSOCKET_OPERATIONS === 'subscriptions',
      bufferMaxBytes: config.WEBSOCKET_BUFFER_MAX_BYTES,
      answerTimeoutMs: config.UPSTREAM_HEADERS_TIMEOUT_MS,
      wholeTimeoutMs: config.UPSTREAM_WHOLE_TIMEOUT_MS,
    },
    metering: {
      settleIntervalMs: config.WEBSOCKET_SETTLE_INTERVAL_MS,
      pointsPerMinute: config.SUBSCRIPTION_POINTS_PER_MINUTE,
    },
    defaultPoints: config.DEFAULT_POINTS,
    pointsExtension: config.UPSTREAM_POINTS_EXTENSION,
    upstream: {
      urls: config.UPSTREAM_WS_URL ?? config.UPSTREAM_URL.map((url) => url.replace(/^http/, 'ws')),
      ejection: ejectionRules(config),
      connection: {
        maxMessageBytes: config.UPSTREAM_WS_MAX_MESSAGE_BYTES,
        bufferMaxBytes: config.WEBSOCKET_BUFFER_MAX_BYTES,
        connectTimeoutMs: config.UPSTREAM_CONNECT_TIMEOUT_MS,
        ackTimeoutMs: config.UPSTREAM_HEADERS_TIMEOUT_MS,
      },
    },
  };
}
