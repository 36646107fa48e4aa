import type { Config } from '../config.ts';
import { DATA_PATH } from '../http/data-paths.ts';
import { ejectionRules } from '../pipeline/forward/upstream/ejection.ts';
import type { WebSocketsSettings } from './websockets.ts';

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
      price: {
        pointsPerMinute: config.SUBSCRIPTION_POINTS_PER_MINUTE,
        pointsExtension: config.UPSTREAM_POINTS_EXTENSION,
      },
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
