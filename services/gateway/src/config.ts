import { z } from 'zod';
import { checkRedisTls } from '@tollgate/config/store-tls';
import { readConfig } from '@tollgate/config';
import { callerSettings, httpUrl, networks, processSettings, wholeNumber } from '@tollgate/config/settings';
import { traceSettings } from '@tollgate/trace/settings';
import { allowedOrigins } from '@tollgate/http/cors-setting';
import { introspectionSettings } from '@tollgate/introspection/settings';
import { MAX_TRUST_MS } from './pipeline/admit/shares/held-share.ts';

const upstreamWsUrls = z
  .string()
  .transform((value) => value.split(/\s+/).filter((url) => url !== ''))
  .refine(
    (urls) => urls.length > 0 && urls.every(isWebSocketUrl),
    'must be ws:// or wss:// addresses with their paths, without user, password, query or fragment, separated by white space',
  );

function isWebSocketUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url !== undefined && /^wss?:$/.test(url.protocol) && url.username === '' && !/[?#@]/.test(value);
}

const upstreamUrls = z
  .string()
  .transform((value) => value.split(/\s+/).filter((url) => url !== ''))
  .pipe(
    z.array(
      httpUrl.refine(
        (value) => !/[?#]/.test(value),
        'must be addresses with their paths, without query or fragment, separated by white space',
      ),
    ),
  )
  .refine((urls) => urls.length > 0, 'must name at least one address')
  .refine((urls) => new Set(urls).size === urls.length, 'must not name an address twice');

/** docs/configuration.md explains each setting. */
const settings = z.object({
  ...traceSettings('tollgate-gateway'),
  ...processSettings,
  ...callerSettings,
  ...introspectionSettings(100_000),
  AUTH_PRIVATE_URL: httpUrl,
  AUTH_PUBLIC_URL: httpUrl,
  ACCOUNT_PRIVATE_URL: httpUrl,
  ACCOUNT_PUBLIC_URL: httpUrl,
  UPSTREAM_URL: upstreamUrls,
  UPSTREAM_V1_URL: upstreamUrls.optional(),
  TRUSTED_PROXIES: networks.default([]),
  CORS_ALLOWED_ORIGINS: allowedOrigins,
  DEFAULT_POINTS: wholeNumber(0, 1_000_000_000).default(1),
  ENTITLEMENT_CACHE_TTL_MS: wholeNumber(0, 600_000).default(300_000),
  ENTITLEMENT_STALE_IF_ERROR_MS: wholeNumber(0, 86_400_000).default(3_600_000),
  ENTITLEMENT_CACHE_MAX_ENTRIES: wholeNumber(1, 10_000_000).default(100_000),
  MAX_REQUEST_BODY_BYTES: wholeNumber(1, 1_073_741_824).default(1_048_576),
  // Node.js' own limit for a request is 300 s.
  REQUEST_BODY_TIMEOUT_MS: wholeNumber(1, 300_000).default(60_000),
  REQUEST_BODIES_MAX_BYTES: wholeNumber(1, 1_099_511_627_776).default(134_217_728),
  GRAPHQL_BATCH_LIMIT: wholeNumber(0, 1_000).default(10),
  GRAPHQL_MAX_DOCUMENT_BYTES: wholeNumber(1, 1_073_741_824).default(65_536),
  GRAPHQL_UPLOADS: z.enum(['off', 'on']).default('off'),
  UPSTREAM_CONNECTIONS: wholeNumber(1, 10_000).default(256),
  UPSTREAM_CONNECTIONS_PER_PAYER: wholeNumber(1, 10_000).default(128),
  UPSTREAM_STREAMS: wholeNumber(1, 1_000_000).default(2_000),
  UPSTREAM_STREAMS_PER_PAYER: wholeNumber(1, 1_000_000).default(500),
  UPSTREAM_CONNECT_TIMEOUT_MS: wholeNumber(1, 600_000).default(3_000),
  UPSTREAM_HEADERS_TIMEOUT_MS: wholeNumber(1, 600_000).default(30_000),
  UPSTREAM_BODY_IDLE_TIMEOUT_MS: wholeNumber(1, 600_000).default(30_000),
  UPSTREAM_WHOLE_TIMEOUT_MS: wholeNumber(0, 86_400_000).default(300_000),
  UPSTREAM_CALLS_PER_CONNECTION: wholeNumber(1, 1_000_000).default(1_000),
  UPSTREAM_KEEP_ALIVE_MS: wholeNumber(1, 600_000).default(4_000),
  UPSTREAM_EJECTION_FAILURES: wholeNumber(1, 1_000).default(5),
  UPSTREAM_EJECTION_MIN_MS: wholeNumber(1, 600_000).default(1_000),
  UPSTREAM_EJECTION_MAX_MS: wholeNumber(1, 3_600_000).default(60_000),
  ADMISSION_SHARE_TRUST_MS: wholeNumber(0, MAX_TRUST_MS).default(MAX_TRUST_MS),
  SETTLEMENT_TIMEOUT_MS: wholeNumber(1, 600_000).default(2_000),
  SETTLEMENT_UNACKNOWLEDGED: z.enum(['refuse', 'pass']).default('refuse'),
  SUBSCRIPTION_POINTS_PER_MINUTE: wholeNumber(0, 1_000_000_000).default(0),
  UPSTREAM_WS_URL: upstreamWsUrls.optional(),
  UPSTREAM_POINTS_EXTENSION: z
    .string()
    .regex(
      /^[^.\s]+(?:\.[^.\s]+)*$/,
      'must be the name of a member of `extensions`, or names separated by dots',
    )
    .default('points'),
  UPSTREAM_WS_MAX_MESSAGE_BYTES: wholeNumber(1, 1_073_741_824).default(4_194_304),
  WEBSOCKET_OPERATIONS: z.enum(['all', 'subscriptions']).default('all'),
  WEBSOCKET_RECONNECT_SPREAD_MS: wholeNumber(0, 60_000).default(1_000),
  WEBSOCKET_INIT_TIMEOUT_MS: wholeNumber(1, 60_000).default(5_000),
  WEBSOCKET_IDLE_TIMEOUT_MS: wholeNumber(1, 86_400_000).default(600_000),
  // Clients of the older protocol close after 30 s without a `ka`.
  WEBSOCKET_PING_INTERVAL_MS: wholeNumber(1, 20_000).default(12_000),
  WEBSOCKET_SETTLE_INTERVAL_MS: wholeNumber(1, 5_000).default(5_000),
  WEBSOCKET_STALL_TIMEOUT_MS: wholeNumber(1, 600_000).default(10_000),
  WEBSOCKET_BUFFER_MAX_BYTES: wholeNumber(1, 1_073_741_824).default(262_144),
  WEBSOCKET_MAX_MESSAGE_BYTES: wholeNumber(1, 1_073_741_824).default(262_144),
  WEBSOCKET_MAX_MESSAGES_PER_SEC: wholeNumber(1, 1_000_000).default(500),
  WEBSOCKET_MAX_OPERATIONS: wholeNumber(1, 100_000).default(100),
  WEBSOCKET_MAX_SOCKETS: wholeNumber(1, 1_000_000).default(20_000),
  WEBSOCKET_MAX_SOCKETS_PER_ACCOUNT: wholeNumber(1, 1_000_000).default(2_000),
  WEBSOCKET_MAX_UNIDENTIFIED: wholeNumber(1, 1_000_000).default(1_000),
  WEBSOCKET_MAX_UNIDENTIFIED_PER_ADDRESS: wholeNumber(1, 1_000_000).default(100),
  SETTLEMENT_QUEUE_MAX_EVENTS: wholeNumber(1, 10_000_000).default(10_000),
  REFUSED_CALLS_RECORDED_PER_SEC: wholeNumber(0, 10_000).default(100),
  PLAIN_ROUTE_TIMEOUT_MS: wholeNumber(1, 600_000).default(30_000),
  PLAIN_ROUTE_CONNECTIONS: wholeNumber(1, 10_000).default(256),
  PLAIN_ROUTE_MAX_OPEN_PER_ADDRESS: wholeNumber(1, 1_000_000).default(64),
  PLAIN_ROUTE_MAX_BODY_BYTES: wholeNumber(1_024, 1_048_576).default(65_536),
  PLAIN_ROUTE_BODY_TIMEOUT_MS: wholeNumber(1, 300_000).default(30_000),
  PLAIN_ROUTE_SLOW_READER_MS: wholeNumber(1, 600_000).default(10_000),
});

export type Config = z.output<typeof settings>;

/** @throws {ConfigError} with all faults. */
export function loadConfig(): Config {
  return readConfig(settings.superRefine(checkRedisTls), process.env);
}
