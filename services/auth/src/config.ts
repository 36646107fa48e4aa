import { z } from 'zod';
import { tokenPrefixSetting } from '@tollgate/credentials/token-prefix-setting';
import { pepperSetting } from '@tollgate/credentials/client-secret';
import { checkRedisTls } from '@tollgate/config/store-tls';
import { readConfig } from '@tollgate/config';
import { traceSettings } from '@tollgate/trace/settings';
import {
  callerSettings,
  httpUrl,
  networks,
  processSettings,
  requestSettings,
  wholeNumber,
} from '@tollgate/config/settings';

/** Only for an origin is the metadata at the address that RFC 8414, section 3.1, derives. */
const issuerUrl = httpUrl.refine(
  (value) => URL.canParse(value) && new URL(value).origin === value,
  'must be an http:// or https:// address without path, in lower case and without a default port',
);

const schema = z
  .object({
    ...traceSettings('tollgate-auth'),
    ...processSettings,
    ...requestSettings,
    ...callerSettings,
    ACCOUNT_PRIVATE_URL: httpUrl,
    CLIENT_SECRET_PEPPERS: pepperSetting,
    CLIENT_CACHE_TTL_MS: wholeNumber(1, 3_600_000).default(60_000),
    TOKEN_PREFIX: tokenPrefixSetting,
    MAX_BODY_BYTES: wholeNumber(1_024, 1_048_576).default(16_384),
    UNKNOWN_CLIENT_CACHE_MAX_ENTRIES: wholeNumber(1, 10_000_000).default(10_000),
    ALLOW_EVICTING_REDIS: z
      .enum(['true', 'false'])
      .default('false')
      .transform((value) => value === 'true'),
    ISSUER_URL: issuerUrl.optional(),
    TRUSTED_PROXIES: networks.default([]),
    FAILED_ATTEMPTS_WINDOW_SEC: wholeNumber(1, 86_400).default(60),
    FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS: wholeNumber(1, 1_000_000).default(30),
    FAILED_ATTEMPTS_PER_ADDRESS: wholeNumber(1, 1_000_000).default(120),
    TOKEN_REQUESTS_PER_CLIENT_PER_MINUTE: wholeNumber(1, 10_000_000).default(6_000),
    INTROSPECTIONS_PER_CALLER_PER_SEC: wholeNumber(1, 1_000_000).default(20_000),
    REVOCATIONS_PER_CLIENT_PER_SEC: wholeNumber(1, 1_000_000).default(100),
    MISS_LOOK_UPS_MAX_IN_FLIGHT: wholeNumber(1, 100_000).default(64),
    RESTORE_CHECK_INTERVAL_MS: wholeNumber(10, 600_000).default(2_000),
    RESTORE_MAX_IN_FLIGHT: wholeNumber(1, 1_000).default(8),
    LAST_USED_REPORT_INTERVAL_MS: wholeNumber(10, 3_600_000).default(60_000),
    LAST_USED_MAX_ENTRIES: wholeNumber(1, 10_000_000).default(10_000),
  })
  .superRefine(checkRedisTls);

export type Config = z.output<typeof schema>;

/** @throws {ConfigError} listing every fault */
export function loadConfig(): Config {
  return readConfig(schema, process.env);
}
