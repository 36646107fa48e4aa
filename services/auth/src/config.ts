import { z } from 'zod';
import { tokenPrefixSetting } from '@tollgate/credentials/token-prefix-setting';
import { pepperSetting } from '@tollgate/credentials/client-secret';
import { checkRedisTls, redisTlsSettings } from '@tollgate/config/store-tls';
import { readConfig } from '@tollgate/config';
import { traceSettings } from '@tollgate/trace/settings';
import {
  callerSettings,
  httpUrl,
  issuerUrl,
  networks,
  processSettings,
  requestSettings,
  trueOrFalse,
  wholeNumber,
} from '@tollgate/config/settings';

/** The tables of docs/configuration.md, which `npm run references` writes. */
export const SETTINGS = {
  service: {
    ACCOUNT_PRIVATE_URL: httpUrl.describe("account's private listener"),
    CLIENT_SECRET_PEPPERS: pepperSetting,
    ISSUER_URL: issuerUrl
      .optional()
      .meta({ description: 'issuer in the RFC 8414 metadata', values: 'an origin' }),
    AUTHORIZATION_ENDPOINT: httpUrl.optional().meta({
      description: 'where people authorize applications: `/oauth2/authorize` of the web interface',
      unset: '`/oauth2/authorize` of `ISSUER_URL`',
    }),
    TRUSTED_PROXIES: networks.default([]).describe('proxies that are trusted'),
    CLIENT_CACHE_TTL_MS: wholeNumber(1, 3_600_000)
      .default(60_000)
      .describe('how long a client record is cached in Redis'),
    UNKNOWN_CLIENT_CACHE_MAX_ENTRIES: wholeNumber(1, 10_000_000)
      .default(10_000)
      .describe('unknown client ids that a process remembers, each for `CLIENT_CACHE_TTL_MS`'),
    MAX_BODY_BYTES: wholeNumber(1_024, 1_048_576)
      .default(16_384)
      .describe('maximum body of a token or introspection request'),
    ALLOW_EVICTING_REDIS: trueOrFalse.default(false).describe('`true` accepts a Redis that can evict keys'),
    CHECK_ANSWERS: trueOrFalse
      .default(false)
      .describe('for tests: an answer that breaks its schema becomes a 500'),
  },
  limits: {
    FAILED_ATTEMPTS_WINDOW_SEC: wholeNumber(1, 86_400)
      .default(60)
      .describe('how long failed attempts count, from the first one of an address'),
    FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS: wholeNumber(1, 1_000_000)
      .default(30)
      .describe('failed attempts for one client from one address in a window'),
    FAILED_ATTEMPTS_PER_ADDRESS: wholeNumber(1, 1_000_000)
      .default(120)
      .describe('failed attempts from one address in a window, for any client'),
    TOKEN_REQUESTS_PER_CLIENT_PER_MINUTE: wholeNumber(1, 10_000_000)
      .default(6_000)
      .describe('token requests of one authenticated client, over all replicas'),
    INTROSPECTIONS_PER_CALLER_PER_SEC: wholeNumber(1, 1_000_000)
      .default(20_000)
      .describe('introspections of one service credential, for each auth process'),
    REVOCATIONS_PER_CLIENT_PER_SEC: wholeNumber(1, 1_000_000)
      .default(100)
      .describe('revocations (RFC 7009) of one authenticated client, for each auth process'),
    MISS_LOOK_UPS_MAX_IN_FLIGHT: wholeNumber(1, 100_000)
      .default(64)
      .describe("look-ups at account because a token wasn't found, for each auth process"),
  },
  manualTokens: {
    RESTORE_CHECK_INTERVAL_MS: wholeNumber(10, 600_000)
      .default(2_000)
      .describe('how often auth checks whether Redis has lost manual tokens'),
    RESTORE_MAX_IN_FLIGHT: wholeNumber(1, 1_000)
      .default(8)
      .describe('clients whose manual tokens are restored at the same time'),
    LAST_USED_REPORT_INTERVAL_MS: wholeNumber(10, 3_600_000)
      .default(60_000)
      .describe('how often auth reports the last use of manual tokens to account'),
    LAST_USED_MAX_ENTRIES: wholeNumber(1, 10_000_000)
      .default(10_000)
      .describe('manual tokens whose use a process notes in that interval, at most'),
  },
  traces: traceSettings('tollgate-auth'),
};

export const schema = z
  .object({
    ...processSettings,
    ...requestSettings,
    ...callerSettings,
    TOKEN_PREFIX: tokenPrefixSetting,
    ...redisTlsSettings,
    ...SETTINGS.service,
    ...SETTINGS.limits,
    ...SETTINGS.manualTokens,
    ...SETTINGS.traces,
  })
  .superRefine(checkRedisTls);

export type Config = z.output<typeof schema>;

/** @throws {ConfigError} listing every fault */
export function loadConfig(): Config {
  return readConfig(schema, process.env);
}
