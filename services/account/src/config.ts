import { isIP } from 'node:net';
import { z } from 'zod';
import { USAGE_SHARD_COUNT } from '@tollgate/contracts/usage-stream';
import { pepperSetting } from '@tollgate/credentials/client-secret';
import { readConfig } from '@tollgate/config';
import {
  checkDatabaseTls,
  checkRedisTls,
  databaseTlsSettings,
  redisTlsSettings,
} from '@tollgate/config/store-tls';
import { traceSettings } from '@tollgate/trace/settings';
import {
  callerSettings,
  connectionUrl,
  httpUrl,
  issuerUrl,
  networks,
  processSettings,
  documentHosts,
  requestSettings,
  serviceCredentials,
  trueOrFalse,
  wholeNumber,
} from '@tollgate/config/settings';
import { tokenPrefixSetting } from '@tollgate/credentials/token-prefix-setting';
import { allowedOrigins } from '@tollgate/config/allowed-origins';
import { introspectionSettings } from '@tollgate/introspection/settings';
import { auditStreamUrl, checkAuditStream } from './operating/audit-stream/settings.ts';
import { OVERUSE_MODES } from './billing/credits/settlement.ts';
import { explorerExamples } from './console/explorer/examples-setting.ts';
import { signingSecrets } from './notifications/secrets/setting.ts';
import { PAYMENT_MODES, TAX_MODES, checkPayments, stripeSecretKey } from './payments/settings.ts';
import { SELF_SERVICE_ACTIONS } from './self-service/settings.ts';
import { isVisible, textFault } from './http/input/visible-text.ts';
import { senderOf } from './mail/sender.ts';
import { parseDatabaseUrl } from './platform/database/database-url.ts';
import { checkRoles, credentialRoles } from './platform/audit/credential-roles.ts';
import { sealingKeysSetting } from './platform/sealing/sealing.ts';
import { allowedHosts } from './teams/sso/settings.ts';
import { FOUR_EYES_MODES, checkExempt, exemptIds } from './operators/four-eyes/settings.ts';
import { checkOidc, checkOperatorsUrl, oidcGroups, oidcIssuer, operatorsUrl } from './operators/settings.ts';
import { MIN_RETENTION_MONTHS } from './counting/retention/months.ts';

/** One server, or several of which one takes writes (docs/design/stores.md). */
const databaseUrl = z
  .string()
  .superRefine((value, context) => {
    try {
      parseDatabaseUrl(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
    }
  })
  .meta({ description: 'address of Postgres', values: '`postgres://…`, `postgresql://…`', isSecret: true });

const databaseSettings = { DATABASE_URL: databaseUrl, ...databaseTlsSettings };

/** Where a link of the web interface leads. */
const link = z
  .string()
  .refine(
    (value) => URL.canParse(value) && /^(https?|mailto):$/.test(new URL(value).protocol),
    'must be an http://, https:// or mailto: URL',
  )
  .optional();

const LINK_VALUES = 'an `http://`, `https://` or `mailto:` URL';

const sender = z.string().transform((value, context) => {
  try {
    return senderOf(value);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});

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

/** The tables of docs/configuration.md, which `npm run references` writes. */
export const SETTINGS = {
  service: {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_MAX: wholeNumber(1, 1_000).default(10).describe('connections to Postgres for requests'),
    AUTH_PRIVATE_URL: httpUrl.describe("auth's private listener"),
    PROCESS_ROLE: z
      .enum(['all', 'api', 'workers'])
      .default('all')
      .describe(
        '`api` only answers requests, `workers` does background work and answers only probes and scrapes',
      ),
    OPERATOR_CREDENTIALS: serviceCredentials.default([]).describe('credentials for the operator API'),
    OPERATOR_CREDENTIAL_ROLES: credentialRoles
      .default(new Map())
      .describe("roles of operators' credentials; a credential that is not listed is an admin's"),
    USAGE_REPORTER_CREDENTIALS: serviceCredentials
      .default([])
      .describe('credentials for `POST /private/usage-reports`'),
    CLIENT_SECRET_PEPPERS: pepperSetting,
    TOKEN_SEALING_KEYS: sealingKeysSetting,
    TRUSTED_PROXIES: networks
      .default([])
      .describe(
        'proxies that are trusted; without it everyone behind the gateway shares one address and its limits',
      ),
    CORS_ALLOWED_ORIGINS: allowedOrigins.describe(
      'origins whose pages may call `/api/usage`, `/api/usage/operations` and `/api/credits`, if browsers reach account directly',
    ),
    CHECK_ANSWERS: trueOrFalse
      .default(false)
      .describe('for tests: an answer that breaks its schema becomes a 500'),
    MAX_APPLICATIONS_PER_ACCOUNT: wholeNumber(1, 100_000)
      .default(100)
      .describe('applications of an account, including revoked ones'),
    MAX_MANUAL_TOKENS_PER_APPLICATION: wholeNumber(1, 1_000)
      .default(100)
      .describe('active manual tokens of an application'),
    HOUSEKEEPING_INTERVAL_SEC: wholeNumber(1, 86_400).default(600).describe('how often housekeeping runs'),
    ...introspectionSettings(10_000),
  },
  usage: {
    USAGE_POLL_INTERVAL_MS: wholeNumber(1, 10_000)
      .default(500)
      .describe('how long the usage reader rests after a transaction, unless entries are left'),
    USAGE_LANES: wholeNumber(1, USAGE_SHARD_COUNT).optional().meta({
      description:
        'streams that take usage. A larger multiple adds some while calls run; fewer are refused. A Redis Cluster needs 64',
      unset: 'as many as there are; at the first start 1, or 64 on a Redis Cluster',
    }),
    USAGE_RETENTION_MONTHS: wholeNumber(MIN_RETENTION_MONTHS, 1_200)
      .default(MIN_RETENTION_MONTHS)
      .describe('whole months of hourly usage kept before the current one'),
    CLOSING_DELAY_SEC: wholeNumber(0, 86_400)
      .default(60)
      .describe('how long after its last use a billing period is closed, once its usage is counted'),
    CREDITS_EXPIRING_DAYS: wholeNumber(1, 365)
      .default(7)
      .describe('how many days before credits expire their holder is told'),
    CREDITS_OVERUSE: z
      .enum(OVERUSE_MODES)
      .default('forgive')
      .describe(
        'usage that neither a plan nor credits cover, such as calls in flight when points run out: `forgive` it, or `carry` it to the next purchase',
      ),
    REFUSED_CALLS_RETENTION_DAYS: wholeNumber(1, 3_650)
      .default(30)
      .describe('how long records and numbers of refused and failed data calls are kept'),
  },
  webInterface: {
    PUBLIC_URL: httpUrl.describe('address of the web interface, as browsers see it'),
    STREAMING_URL: httpUrl
      .optional()
      .meta({ description: 'base URL of the data endpoint', unset: 'that of the web interface' }),
    AUTH_URL: httpUrl
      .optional()
      .meta({ description: 'base URL of the token endpoint', unset: 'that of the web interface' }),
    AUTHORIZATION_CODE_LIFETIME_SEC: wholeNumber(10, 600)
      .default(60)
      .describe('how long an authorization code works'),
    REFRESH_TOKEN_IDLE_TIMEOUT_SEC: wholeNumber(3_600, 315_360_000)
      .default(7_776_000)
      .describe('a refresh token that is not used for this long ends'),
    CONNECTION_LIFETIME_SEC: wholeNumber(3_600, 315_360_000)
      .default(31_536_000)
      .describe('when a person has to authorize an application again, in any case'),
    CIMD_HOSTS: documentHosts.default([]).meta({
      description: 'hosts whose client ID metadata documents are read; set it for auth too',
      values: '`host` or `host:port`, separated by white space',
      unset: 'none are read',
    }),
    ISSUER_URL: issuerUrl.optional().meta({
      description: "auth's `ISSUER_URL`, which answers to applications that act for other people name",
      values: 'an origin',
      unset: 'the origin of `AUTH_URL`',
    }),
    EXPLORER_EXAMPLES: explorerExamples
      .default([])
      .describe('operations that the explorer and the code samples begin with'),
    EXPLORER_SCHEMA_URL: httpUrl
      .optional()
      .describe('your data API, from which account reads the schema for the explorer'),
    PRODUCT_NAME: z
      .string()
      .trim()
      .max(60)
      .refine(isVisible, 'must have at least one visible character')
      .superRefine((value, context) => {
        const message = textFault(value);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .default('Tollgate')
      .meta({
        description: "the product's name in mails and in the web interface",
        values: '1 to 60 characters',
      }),
    PRODUCT_LOGO_PATH: z.string().min(1).optional().meta({
      description: 'file with the logo beside the name, square; mails show PNG only',
      values: 'path of an SVG or PNG file of at most 200 KB',
      unset: "Tollgate's",
    }),
    ACCENT_COLOR: z
      .string()
      .regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as #4453c8')
      .optional()
      .meta({
        description: 'the colour of links, buttons and charts',
        values: 'a colour such as `#4453c8`',
        unset: '`#4453c8`',
      }),
    DOCS_URL: link.meta({
      description: 'the link Docs in the navigation',
      values: LINK_VALUES,
      unset: "`/docs`, the customers' book",
    }),
    SUPPORT_URL: link.meta({ description: 'the link Support in the navigation', values: LINK_VALUES }),
    CONSOLE_DIR: z
      .string()
      .min(1)
      .default('packages/console/dist')
      .describe('directory with the build of the web interface; set in the image'),
    DOCS_DIR: z
      .string()
      .min(1)
      .default('packages/docs/dist')
      .describe("directory with the builds of the customers' and the operators' book; set in the image"),
    COOKIE_SECURE: trueOrFalse
      .optional()
      .meta({ description: 'whether the session cookie requires TLS', unset: 'by `PUBLIC_URL`' }),
    ACCOUNT_DELETION_GRACE_DAYS: wholeNumber(1, 365)
      .default(30)
      .describe('days in which a deleted account can be restored; then it is erased'),
    SIGN_UP_ENABLED: trueOrFalse.default(true).describe('`false` disables sign-up'),
    SIGN_UP_PLAN: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .optional()
      .describe('name or id of the plan that a signed-up account gets'),
    SIGN_UP_PLAN_DAYS: wholeNumber(0, 3_650)
      .default(30)
      .describe('days of the one period of `SIGN_UP_PLAN`; 0: a monthly subscription, which renews'),
    SELF_SERVICE: z
      .string()
      .transform((value) => value.split(/[\s,]+/).filter((action) => action !== '' && action !== 'none'))
      .pipe(
        z.array(z.enum(SELF_SERVICE_ACTIONS, `must be none, or some of ${SELF_SERVICE_ACTIONS.join(', ')}`)),
      )
      .optional()
      .meta({
        description: 'what customers can do about their plan without an operator',
        values: '`none`, or some of `subscribe`, `change`, `cancel`, `slots`',
        unset: '`cancel`; all with `PAYMENTS=stripe`',
      }),
    CONTACT_SALES_URL: link.meta({
      description: 'link for what is not self-service',
      values: LINK_VALUES,
    }),
    DNS_SERVERS: dnsServers.default([]).meta({
      description: 'DNS servers that are asked for the records by which teams prove their domains',
      values: 'IP addresses, with or without a port',
      unset: "the system's",
    }),
    TEAM_SSO_ALLOWED_HOSTS: allowedHosts.default(new Set()).meta({
      description:
        'hosts that may have private addresses although they are asked as identity providers of teams; on loopback also without TLS',
      values: 'host names or IP addresses, separated by white space',
    }),
    SESSION_IDLE_TIMEOUT_SEC: wholeNumber(300, 31_536_000)
      .default(604_800)
      .describe('a session without requests for this long ends'),
    SESSION_LIFETIME_SEC: wholeNumber(300, 31_536_000)
      .default(2_592_000)
      .describe('maximum lifetime of a session'),
    SIGN_IN_WINDOW_SEC: wholeNumber(1, 86_400)
      .default(900)
      .describe('how long failed sign-ins count, from the first one'),
    SIGN_IN_FAILURES_PER_ACCOUNT_AND_ADDRESS: wholeNumber(1, 1_000_000)
      .default(10)
      .describe('failed sign-ins to one account from one address in a window, then 429'),
    SIGN_IN_FAILURES_PER_ADDRESS: wholeNumber(1, 1_000_000)
      .default(100)
      .describe('failed sign-ins from one address (IPv6: one /64) in a window, then 429'),
    PASSWORD_HASH_QUEUE_MAX: wholeNumber(0, 10_000)
      .default(64)
      .describe('passwords queued for hashing in a process, then 503'),
    // libuv's own setting and default: how many threads there are.
    UV_THREADPOOL_SIZE: wholeNumber(1, 1_024)
      .default(4)
      .describe('threads of Node.js; one fewer hashes run at once, and at most one for each core'),
  },
  operators: {
    OPERATORS_URL: operatorsUrl.optional().meta({
      description: "address of the operators' console, as their browsers see it; required to sign in there",
      unset: 'signing in is off',
    }),
    OPERATORS_LOCAL: trueOrFalse
      .default(true)
      .describe('whether operators made by `tollgate operators create` can sign in, with a passkey'),
    FOUR_EYES: z
      .enum(FOUR_EYES_MODES)
      .default('auto')
      .describe(
        'whether a second operator confirms what does most harm ([operators](operators.md#a-second-operator)); `auto`: once there are two who can',
      ),
    FOUR_EYES_CREDIT_POINTS: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().meta({
      description: 'a grant of more points needs a second operator',
      unset: 'none does',
    }),
    FOUR_EYES_EXEMPT: exemptIds.default(new Set()).meta({
      description: 'credentials of operators that act without a second operator',
      values: 'ids of `OPERATOR_CREDENTIALS`',
      unset: 'none',
    }),
    OPERATORS_OIDC_ISSUER: oidcIssuer.optional().meta({
      description: 'the identity provider by which operators sign in, by OpenID Connect',
      unset: 'operators sign in with passkeys',
    }),
    OPERATORS_OIDC_CLIENT_ID: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .meta({ description: 'client ID of the console there; required with `OPERATORS_OIDC_ISSUER`' }),
    OPERATORS_OIDC_CLIENT_SECRET: z.string().min(1).max(2_000).optional().meta({
      description: 'client secret of the console there; required with `OPERATORS_OIDC_ISSUER`',
      isSecret: true,
    }),
    OPERATORS_OIDC_GROUPS: oidcGroups
      .default(new Map())
      .describe('role of each group there; required with `OPERATORS_OIDC_ISSUER`'),
    OPERATOR_ROLE_MAX_AGE_SEC: wholeNumber(60, 86_400)
      .default(3_600)
      .describe('a session by the identity provider lasts at most this long, so that groups are read again'),
    AUDIT_STREAM_URL: auditStreamUrl.optional().meta({
      description: 'your server that gets each entry of the audit log: a webhook, or syslog over TLS',
      unset: 'the audit log is not streamed',
      isSecret: true,
    }),
    AUDIT_STREAM_SECRET: signingSecrets
      .optional()
      .describe('signing secret of that webhook; required with one'),
    OPERATOR_SESSION_IDLE_TIMEOUT_SEC: wholeNumber(300, 86_400)
      .default(1_800)
      .describe("an operator's session without requests for this long ends"),
    OPERATOR_SESSION_LIFETIME_SEC: wholeNumber(60, 86_400)
      .default(43_200)
      .describe("maximum lifetime of an operator's session"),
  },
  payments: {
    PAYMENTS: z
      .enum(PAYMENT_MODES)
      .default('none')
      .describe('how customers pay: `none` sells nothing, `stripe` sells plans and packs of points'),
    STRIPE_SECRET_KEY: stripeSecretKey.optional().meta({
      description: 'key of the API of Stripe; required with `PAYMENTS=stripe`',
      values: '`sk_…` or `rk_…`',
      isSecret: true,
    }),
    STRIPE_WEBHOOK_SECRET: signingSecrets
      .optional()
      .describe('signing secret of the webhook endpoint; required with `PAYMENTS=stripe`'),
    STRIPE_API_URL: httpUrl.optional().meta({
      description: 'address of a server that stands in for Stripe; refused with a live key',
      unset: "Stripe's",
    }),
    STRIPE_TAX: z
      .enum(TAX_MODES)
      .default('off')
      .describe('whether Stripe Tax computes the tax of plans, packs and further points: `off`, `automatic`'),
    STRIPE_PACK_INVOICES: trueOrFalse
      .default(true)
      .describe('whether customers get an invoice of each pack that they buy, for which Stripe charges you'),
    PAYMENT_GRACE_SEC: wholeNumber(0, 2_419_200)
      .default(604_800)
      .describe('how long after its start a renewed period may stay unpaid; then calls are refused'),
  },
  mail: {
    SMTP_URL: connectionUrl('smtp:', 'smtps:').optional().describe('the mail server, with user and password'),
    MAIL_FROM: sender.optional().meta({
      description: 'the sender of mails; required with `SMTP_URL`',
      values: '`address`, or `Name <address>` with a name in any script',
    }),
    MAIL_DIR: z
      .string()
      .min(1)
      .default('.tollgate/mail')
      .describe('without `SMTP_URL`, each mail is written to a file in this directory'),
    MAIL_ATTEMPT_TIMEOUT_MS: wholeNumber(100, 60_000)
      .default(20_000)
      .describe('timeout of one attempt to send a mail'),
    MAIL_REQUESTS_WINDOW_SEC: wholeNumber(1, 86_400)
      .default(3_600)
      .describe('how long requests that send a mail count'),
    MAIL_REQUESTS_PER_RECIPIENT: wholeNumber(1, 1_000_000)
      .default(5)
      .describe('mails of one purpose to one recipient in a window, then 429'),
    MAIL_REQUESTS_PER_ADDRESS: wholeNumber(1, 1_000_000)
      .default(30)
      .describe('requests that send a mail, from one client address in a window, then 429'),
    MAIL_REQUESTS_PER_ACCOUNT: wholeNumber(1, 1_000_000)
      .default(30)
      .describe(
        'requests of one signed-in account that send a mail: invitations and changes of its email address',
      ),
  },
  webhooks: {
    MAX_WEBHOOKS_PER_ACCOUNT: wholeNumber(0, 1_000)
      .default(5)
      .describe('webhooks of an account, including disabled ones'),
    WEBHOOK_ALLOW_HTTP: trueOrFalse.default(false).describe('`true` also allows `http://` URLs'),
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: trueOrFalse
      .default(false)
      .describe('`true` also allows loopback, private and other special addresses'),
    WEBHOOK_DNS_SERVERS: dnsServers.default([]).meta({
      description: 'DNS servers that resolve webhook hosts',
      values: 'IP addresses, with or without a port',
      unset: "the system's",
    }),
    WEBHOOK_CONNECT_TIMEOUT_MS: wholeNumber(100, 60_000)
      .default(5_000)
      .describe("timeout for resolving and connecting to a webhook's server"),
    WEBHOOK_ATTEMPT_TIMEOUT_MS: wholeNumber(100, 60_000)
      .default(15_000)
      .describe('timeout of a whole attempt'),
    WEBHOOK_MAX_IN_FLIGHT: wholeNumber(1, 1_000)
      .default(32)
      .describe('webhooks that a process delivers to at the same time, one message each'),
    WEBHOOK_RETRY_DELAYS_SEC: secondsList
      .default([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400])
      .meta({ description: 'delay before each retry', values: 'at most 20 whole numbers' }),
    WEBHOOK_DISABLE_AFTER_SEC: wholeNumber(0, 31_536_000)
      .default(432_000)
      .describe('a webhook whose attempts have all failed for this long is disabled'),
    WEBHOOK_DELIVERY_RETENTION_SEC: wholeNumber(1, 315_360_000)
      .default(2_592_000)
      .describe('how long the delivery log is kept'),
  },
  traces: traceSettings('tollgate-account'),
  sample: {
    // A container of Kubernetes can't redirect standard input and output.
    SEED_INPUT: z.string().optional().meta({
      description: 'JSON from which the program for the sample accounts creates them',
      unset: 'standard input',
    }),
    SEED_OUTPUT_PATH: z.string().min(1).optional().meta({
      description: 'file to which that program writes their ids',
      unset: 'standard output',
    }),
  },
};

export const schema = z
  .object({
    ...processSettings,
    ...requestSettings,
    ...callerSettings,
    TOKEN_PREFIX: tokenPrefixSetting,
    ...redisTlsSettings,
    ...databaseTlsSettings,
    ...SETTINGS.service,
    ...SETTINGS.usage,
    ...SETTINGS.webInterface,
    ...SETTINGS.operators,
    ...SETTINGS.payments,
    ...SETTINGS.mail,
    ...SETTINGS.webhooks,
    ...SETTINGS.traces,
  })
  .refine(({ SMTP_URL, MAIL_FROM }) => SMTP_URL === undefined || MAIL_FROM !== undefined, {
    path: ['MAIL_FROM'],
  })
  .superRefine(checkRoles)
  .superRefine(checkOperatorsUrl)
  .superRefine(checkOidc)
  .superRefine(checkExempt)
  .superRefine(checkAuditStream)
  .superRefine(checkPayments)
  .superRefine(checkDatabaseTls)
  .superRefine(checkRedisTls);

export type Config = z.output<typeof schema>;

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
    ...SETTINGS.sample,
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
  return readConfig(schema, process.env);
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
