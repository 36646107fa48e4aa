import { isIP } from 'node:net';
import { z } from 'zod';
import { pepperSetting } from '@tollgate/credentials/client-secret';
import { readConfig } from '@tollgate/config';
import { checkDatabaseTls, checkRedisTls, databaseTlsSettings } from '@tollgate/config/store-tls';
import { traceSettings } from '@tollgate/trace/settings';
import {
  callerSettings,
  connectionUrl,
  httpUrl,
  networks,
  processSettings,
  requestSettings,
  serviceCredentials,
  wholeNumber,
} from '@tollgate/config/settings';
import { tokenPrefixSetting } from '@tollgate/credentials/token-prefix-setting';
import { allowedOrigins } from '@tollgate/http/cors-setting';
import { introspectionSettings } from '@tollgate/introspection/settings';
import { SELF_SERVICE_ACTIONS } from './self-service/settings.ts';
import { isVisible, textFault } from './http/input/visible-text.ts';
import { senderOf } from './mail/sender.ts';
import { parseDatabaseUrl } from './platform/database/database-url.ts';
import { sealingKeysSetting } from './platform/sealing/sealing.ts';
import { MIN_RETENTION_MONTHS } from './counting/retention/months.ts';

/** One server, or several of which one takes writes (docs/design/stores.md). */
const databaseUrl = z.string().superRefine((value, context) => {
  try {
    parseDatabaseUrl(value);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
  }
});

const databaseSettings = { DATABASE_URL: databaseUrl, ...databaseTlsSettings };

const sender = z.string().transform((value, context) => {
  try {
    return senderOf(value);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});

const trueOrFalse = z.enum(['true', 'false']).transform((value) => value === 'true');

/** What customers do about their plan without an operator (docs/design/billing.md). */
const planSettings = {
  /** Name or id of the plan that a signed-up account gets; none by default. */
  SIGN_UP_PLAN: z.string().trim().min(1).max(200).optional(),
  /** 0: a monthly subscription, which renews. */
  SIGN_UP_PLAN_DAYS: wholeNumber(0, 3_650).default(30),
  SELF_SERVICE: z
    .string()
    .transform((value) => value.split(/[\s,]+/).filter((action) => action !== '' && action !== 'none'))
    .pipe(
      z.array(z.enum(SELF_SERVICE_ACTIONS, `must be none, or some of ${SELF_SERVICE_ACTIONS.join(', ')}`)),
    )
    .default(['cancel']),
  CONTACT_SALES_URL: z
    .string()
    .refine(
      (value) => URL.canParse(value) && /^(https?|mailto):$/.test(new URL(value).protocol),
      'must be an http://, https:// or mailto: URL',
    )
    .optional(),
};

/** People, sessions and mail (docs/design/identity.md). */
const peopleSettings = {
  /** Base URL of the console and of links in mails. */
  PUBLIC_URL: httpUrl,
  /** Base URL of the data endpoint, if it isn't that of the console. */
  STREAMING_URL: httpUrl.optional(),
  /** Base URL of the token endpoint, if it isn't that of the console. */
  AUTH_URL: httpUrl.optional(),
  /** In mails and in the web interface. */
  PRODUCT_NAME: z
    .string()
    .trim()
    .max(60)
    .refine(isVisible, 'must have at least one visible character')
    .superRefine((value, context) => {
      const message = textFault(value);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .default('Tollgate'),
  PRODUCT_LOGO_PATH: z.string().min(1).optional(),
  ACCENT_COLOR: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as #4453c8')
    .optional(),
  CONSOLE_DIR: z.string().min(1).default('packages/console/dist'),
  /** Defaults to whether PUBLIC_URL is https. */
  COOKIE_SECURE: trueOrFalse.optional(),
  TRUSTED_PROXIES: networks.default([]),
  CORS_ALLOWED_ORIGINS: allowedOrigins,
  ACCOUNT_DELETION_GRACE_DAYS: wholeNumber(1, 365).default(30),
  SIGN_UP_ENABLED: trueOrFalse.default(true),
  ...planSettings,
  SESSION_IDLE_TIMEOUT_SEC: wholeNumber(300, 31_536_000).default(604_800),
  SESSION_LIFETIME_SEC: wholeNumber(300, 31_536_000).default(2_592_000),
  SIGN_IN_WINDOW_SEC: wholeNumber(1, 86_400).default(900),
  SIGN_IN_FAILURES_PER_ACCOUNT_AND_ADDRESS: wholeNumber(1, 1_000_000).default(10),
  SIGN_IN_FAILURES_PER_ADDRESS: wholeNumber(1, 1_000_000).default(100),
  // libuv's own setting and default: how many threads there are.
  UV_THREADPOOL_SIZE: wholeNumber(1, 1_024).default(4),
  PASSWORD_HASH_QUEUE_MAX: wholeNumber(0, 10_000).default(64),
  SMTP_URL: connectionUrl('smtp:', 'smtps:').optional(),
  MAIL_FROM: sender.optional(),
  /** Used without SMTP_URL. */
  MAIL_DIR: z.string().min(1).default('.tollgate/mail'),
  MAIL_ATTEMPT_TIMEOUT_MS: wholeNumber(100, 60_000).default(20_000),
  MAIL_REQUESTS_WINDOW_SEC: wholeNumber(1, 86_400).default(3_600),
  MAIL_REQUESTS_PER_RECIPIENT: wholeNumber(1, 1_000_000).default(5),
  MAIL_REQUESTS_PER_ADDRESS: wholeNumber(1, 1_000_000).default(30),
  MAIL_REQUESTS_PER_ACCOUNT: wholeNumber(1, 1_000_000).default(30),
  HOUSEKEEPING_INTERVAL_SEC: wholeNumber(1, 86_400).default(600),
};

/** Whole numbers of seconds, separated by white space. */
const secondsList = z
  .string()
  .transform((value) => value.split(/\s+/).filter((seconds) => seconds !== ''))
  .refine(
    (list) => list.length <= 20 && list.every((seconds) => /^\d{1,7}$/.test(seconds)),
    'must be at most 20 whole numbers of seconds, separated by white space',
  )
  .transform((list) => list.map(Number));

/** IP addresses with a port or without, separated by white space. */
const dnsServers = z
  .string()
  .transform((value) => value.split(/\s+/).filter((server) => server !== ''))
  .refine(
    (servers) =>
      servers.every(
        (server) => isIP(server.replace(/^\[(.*)\](:\d{1,5})?$|:\d{1,5}$/, '$1')) !== 0 || isIP(server) !== 0,
      ),
    'must be IP addresses, each with a port or without, separated by white space',
  );

/** Alerts and webhooks (docs/design/deliveries.md). */
const webhookSettings = {
  MAX_WEBHOOKS_PER_ACCOUNT: wholeNumber(0, 1_000).default(5),
  WEBHOOK_ALLOW_HTTP: trueOrFalse.default(false),
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: trueOrFalse.default(false),
  /** Resolvers for webhook hosts; the system's by default. */
  WEBHOOK_DNS_SERVERS: dnsServers.default([]),
  WEBHOOK_CONNECT_TIMEOUT_MS: wholeNumber(100, 60_000).default(5_000),
  WEBHOOK_ATTEMPT_TIMEOUT_MS: wholeNumber(100, 60_000).default(15_000),
  WEBHOOK_MAX_IN_FLIGHT: wholeNumber(1, 1_000).default(32),
  /** As Standard Webhooks suggests. */
  WEBHOOK_RETRY_DELAYS_SEC: secondsList.default([
    5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
  ]),
  WEBHOOK_DISABLE_AFTER_SEC: wholeNumber(0, 31_536_000).default(432_000),
  WEBHOOK_DELIVERY_RETENTION_SEC: wholeNumber(1, 315_360_000).default(2_592_000),
};

const serviceSettings = z
  .object({
    ...traceSettings('tollgate-account'),
    ...processSettings,
    ...requestSettings,
    ...callerSettings,
    /** `api` answers requests, `workers` does background work and answers only probes and scrapes. */
    PROCESS_ROLE: z.enum(['all', 'api', 'workers']).default('all'),
    /** Callers accepted at the operator API; none by default. */
    OPERATOR_CREDENTIALS: serviceCredentials.default([]),
    /** Systems that can report usage; none by default. */
    USAGE_REPORTER_CREDENTIALS: serviceCredentials.default([]),
    ...databaseSettings,
    DATABASE_POOL_MAX: wholeNumber(1, 1_000).default(10),
    /** Between two transactions of the usage reader. */
    USAGE_POLL_INTERVAL_MS: wholeNumber(1, 10_000).default(500),
    /** Months of hourly usage before the current one. */
    USAGE_RETENTION_MONTHS: wholeNumber(MIN_RETENTION_MONTHS, 1_200).default(MIN_RETENTION_MONTHS),
    REFUSED_CALLS_RETENTION_DAYS: wholeNumber(1, 3_650).default(30),
    AUTH_PRIVATE_URL: httpUrl,
    CLIENT_SECRET_PEPPERS: pepperSetting,
    TOKEN_SEALING_KEYS: sealingKeysSetting,
    /** For tests: an answer that breaks its schema is a 500. */
    CHECK_ANSWERS: trueOrFalse.default(false),
    MAX_APPLICATIONS_PER_ACCOUNT: wholeNumber(1, 100_000).default(100),
    MAX_MANUAL_TOKENS_PER_APPLICATION: wholeNumber(1, 1_000).default(100),
    ...introspectionSettings(10_000),
    ...peopleSettings,
    ...webhookSettings,
  })
  .refine(({ SMTP_URL, MAIL_FROM }) => SMTP_URL === undefined || MAIL_FROM !== undefined, {
    path: ['MAIL_FROM'],
  })
  .superRefine(checkDatabaseTls)
  .superRefine(checkRedisTls);

export type Config = z.output<typeof serviceSettings>;

const migrateSettings = z
  .object({
    LOG_LEVEL: processSettings.LOG_LEVEL,
    ...databaseSettings,
  })
  .superRefine(checkDatabaseTls);

const seedSettings = z
  .object({
    ...databaseSettings,
    CLIENT_SECRET_PEPPERS: pepperSetting,
    TOKEN_SEALING_KEYS: sealingKeysSetting,
    TOKEN_PREFIX: tokenPrefixSetting,
    /** Instead of stdin, which a container of Kubernetes can't redirect. */
    SEED_INPUT: z.string().optional(),
    /** Instead of stdout, for the same reason. */
    SEED_OUTPUT_PATH: z.string().min(1).optional(),
  })
  .superRefine(checkDatabaseTls);

const resealSettings = z
  .object({
    LOG_LEVEL: processSettings.LOG_LEVEL,
    ...databaseSettings,
    TOKEN_SEALING_KEYS: sealingKeysSetting,
  })
  .superRefine(checkDatabaseTls);

/**
 * The service's settings (docs/configuration.md).
 * @throws {ConfigError} listing every fault
 */
export function loadConfig(): Config {
  return readConfig(serviceSettings, process.env);
}

/** Settings of migrate.ts. */
export function loadMigrateConfig(): z.output<typeof migrateSettings> {
  return readConfig(migrateSettings, process.env);
}

/** Settings of seed.ts. */
export function loadSeedConfig(): z.output<typeof seedSettings> {
  return readConfig(seedSettings, process.env);
}

/** Settings of reseal.ts. */
export function loadResealConfig(): z.output<typeof resealSettings> {
  return readConfig(resealSettings, process.env);
}
