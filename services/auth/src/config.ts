import { z } from 'zod';
import { tokenPrefixSetting } from '@tollgate/credentials/token-prefix-setting';
import { pepperSetting } from '@tollgate/credentials/client-secret';
import { checkRedisTls, redisTlsSettings } from '@tollgate/config/store-tls';
import { readConfig } from '@tollgate/config';
import { traceSettings } from '@tollgate/trace/settings';
import {
  callerSettings,
  documentHosts,
  httpUrl,
  issuerUrl,
  networks,
  processSettings,
  requestSettings,
  trueOrFalse,
  wholeNumber,
} from '@tollgate/config/settings';

/** Bearer tokens (RFC 6750, section 2.1) that operators make up. */
const registrationTokens = z
  .string()
  .transform((value) => value.split(/\s+/).filter((token) => token !== ''))
  .refine(
    (tokens) => tokens.every((token) => /^[A-Za-z0-9._~+/-]{16,500}=*$/.test(token)),
    'must be tokens of at least 16 letters, digits or ._~+/-, separated by white space',
  );

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
    REGISTRATION: z
      .enum(['off', 'token', 'open'])
      .default('off')
      .describe(
        'which clients may register themselves (RFC 7591): none, those with a token of `REGISTRATION_TOKENS`, or all',
      ),
    REGISTRATION_TOKENS: registrationTokens.default([]).meta({
      description: 'initial access tokens, with which clients register; required with `REGISTRATION=token`',
      values: '16 characters each at least, separated by white space',
      isSecret: true,
    }),
    CIMD_HOSTS: documentHosts.default([]).meta({
      description: "account's `CIMD_HOSTS`, for the metadata",
      values: '`host` or `host:port`, separated by white space',
      unset: 'none',
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
    MAX_LIVE_TOKENS_PER_APPLICATION: wholeNumber(1, 10_000_000)
      .default(5_000)
      .describe('live tokens that an application has obtained; with a further one the oldest ends'),
    MAX_LIVE_TOKENS_PER_CONNECTION: wholeNumber(1, 1_000_000)
      .default(100)
      .describe('the same of what one person has granted to an application'),
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
  .superRefine(checkRedisTls)
  .refine(({ REGISTRATION, REGISTRATION_TOKENS: tokens }) => REGISTRATION !== 'token' || tokens.length > 0, {
    path: ['REGISTRATION_TOKENS'],
    message: 'is required with REGISTRATION=token',
  });

export type Config = z.output<typeof schema>;

/** @throws {ConfigError} listing every fault */
export function loadConfig(): Config {
  return readConfig(schema, process.env);
}
