import { z } from 'zod';
import { readConfig } from '@tollgate/config';
import { callerSettings, httpUrl, processSettings, wholeNumber } from '@tollgate/config/settings';
import { introspectionSettings } from '@tollgate/introspection/settings';

/** The endpoint behind the gateway; the query string belongs to each caller. */
const upstreamUrl = httpUrl.refine(
  (value) => !/[?#]/.test(value),
  'must be an address and a path, without query or fragment',
);

/** docs/configuration.md explains each setting. */
const settings = z.object({
  ...processSettings,
  ...callerSettings,
  ...introspectionSettings(100_000),
  AUTH_PRIVATE_URL: httpUrl,
  AUTH_PUBLIC_URL: httpUrl,
  ACCOUNT_PRIVATE_URL: httpUrl,
  ACCOUNT_PUBLIC_URL: httpUrl,
  UPSTREAM_URL: upstreamUrl,
  DEFAULT_POINTS: wholeNumber(0, 1_000_000_000).default(1),
  ENTITLEMENT_CACHE_TTL_MS: wholeNumber(0, 30_000).default(5_000),
  ENTITLEMENT_CACHE_MAX_ENTRIES: wholeNumber(1, 10_000_000).default(100_000),
  MAX_REQUEST_BODY_BYTES: wholeNumber(1, 1_073_741_824).default(1_048_576),
  UPSTREAM_CONNECTIONS: wholeNumber(1, 10_000).default(256),
  UPSTREAM_CONNECT_TIMEOUT_MS: wholeNumber(1, 600_000).default(3_000),
  UPSTREAM_HEADERS_TIMEOUT_MS: wholeNumber(1, 600_000).default(30_000),
  UPSTREAM_BODY_IDLE_TIMEOUT_MS: wholeNumber(1, 600_000).default(30_000),
  SETTLEMENT_QUEUE_MAX_EVENTS: wholeNumber(1, 10_000_000).default(10_000),
  PLAIN_ROUTE_TIMEOUT_MS: wholeNumber(1, 600_000).default(30_000),
});

export type Config = z.output<typeof settings>;

/** The gateway's settings from the environment. @throws {ConfigError} naming every fault at once. */
export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
