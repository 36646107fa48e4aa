import { z } from 'zod';
import { checkRedisTls, redisTlsSettings } from '@tollgate/config/store-tls';
import { readConfig } from '@tollgate/config';
import { tokenPrefixSetting } from '@tollgate/credentials/token-prefix-setting';
import {
  callerSettings,
  httpUrl,
  issuerUrl,
  networks,
  processSettings,
  wholeNumber,
} from '@tollgate/config/settings';
import { traceSettings } from '@tollgate/trace/settings';
import { allowedOrigins } from '@tollgate/config/allowed-origins';
import { introspectionSettings } from '@tollgate/introspection/settings';
import { MAX_TRUST_MS } from './pipeline/admit/shares/held-share.ts';

const upstreamWsUrls = z
  .string()
  .transform((value) => value.split(/\s+/).filter((url) => url !== ''))
  .refine(
    (urls) => urls.length > 0 && urls.every(isWebSocketUrl),
    'must be ws:// or wss:// addresses with their paths, without user, password, query or fragment, separated by white space',
  )
  .meta({ values: 'one or more `ws://` or `wss://` addresses' });

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
  .refine((urls) => new Set(urls).size === urls.length, 'must not name an address twice')
  .meta({ values: 'one or more `http://` or `https://` addresses, each with its path' });

const schemaLocation = z
  .string()
  .min(1)
  .meta({ values: 'path of a file, an `http://` or `https://` address, or `introspect`' });

/** The tables of docs/configuration.md, which `npm run references` writes. */
export const SETTINGS = {
  calls: {
    AUTH_PRIVATE_URL: httpUrl.describe("auth's private listener"),
    AUTH_PUBLIC_URL: httpUrl.describe("auth's public listener"),
    ACCOUNT_PRIVATE_URL: httpUrl.describe("account's private listener"),
    ACCOUNT_PUBLIC_URL: httpUrl.describe("account's public listener"),
    TRUSTED_PROXIES: networks.default([]).describe('load balancers in front of the gateway that are trusted'),
    STREAMING_URL: httpUrl.optional().meta({
      description: "this gateway's public base URL, as account has it; MCP is at `/mcp` below it",
      unset: 'no MCP',
    }),
    ISSUER_URL: issuerUrl.optional().meta({
      description: "auth's `ISSUER_URL`, where MCP clients get tokens",
      values: 'an origin',
      unset: 'the origin of `STREAMING_URL`',
    }),
    MCP_TOKENS: z
      .enum(['any', 'authorization'])
      .default('any')
      .describe(
        'which tokens MCP accepts: each of an account, or only those that a person granted by authorization',
      ),
    MCP_REQUESTS_PER_MINUTE: wholeNumber(1, 1_000_000)
      .default(600)
      .describe("one account's MCP requests on this gateway, of any kind, then 429"),
    CORS_ALLOWED_ORIGINS: allowedOrigins.describe('origins whose pages may call the data API'),
    MAX_REQUEST_BODY_BYTES: wholeNumber(1, 1_073_741_824)
      .default(1_048_576)
      .describe('larger request bodies get 413; decoded, if they are encoded'),
    GRAPHQL_BODIES_MAX_BYTES: wholeNumber(1, 1_099_511_627_776)
      .default(67_108_864)
      .describe('memory for bodies of data calls under way, in one gateway'),
    GRAPHQL_READ: z
      .enum(['on', 'off'])
      .default('on')
      .describe('`off` forwards calls over HTTP without reading them, and turns off what needs that'),
    GRAPHQL_BATCH_LIMIT: wholeNumber(0, 1_000)
      .default(10)
      .describe('operations in one request; 0 refuses batches'),
    GRAPHQL_MAX_DOCUMENT_BYTES: wholeNumber(1, 1_073_741_824)
      .default(65_536)
      .describe('larger GraphQL documents get 413'),
    GRAPHQL_MAX_DEPTH: wholeNumber(0, 1_000)
      .default(50)
      .describe('levels of fields in a GraphQL operation, then 400; 0 for no limit'),
    GRAPHQL_MAX_ALIASES: wholeNumber(0, 1_000_000)
      .default(500)
      .describe('aliases in a GraphQL operation, then 400; 0 for no limit'),
    GRAPHQL_MAX_ROOT_FIELDS: wholeNumber(0, 1_000_000)
      .default(200)
      .describe('root fields of a GraphQL operation, then 400; 0 for no limit'),
    GRAPHQL_MAX_TOKENS: wholeNumber(0, 1_000_000)
      .default(5_000)
      .describe('tokens in a GraphQL document, then 400; 0 for no limit'),
    GRAPHQL_MAX_DIRECTIVES: wholeNumber(0, 1_000_000)
      .default(500)
      .describe('directives in a GraphQL operation, then 400; 0 for no limit'),
    GRAPHQL_INTROSPECTION: z
      .enum(['on', 'off'])
      .default('on')
      .describe('`off` refuses operations with `__schema` or `__type`'),
    STRICT_POINTS: z
      .enum(['off', 'plan', 'all'])
      .default('plan')
      .describe(
        'whether calls are admitted only if the points left cover their estimates: as the plan says (`strict_points`), or for `all` plans that don’t deny it',
      ),
    GRAPHQL_SCHEMA: schemaLocation
      .optional()
      .meta({ description: 'the schema by which calls are priced before they run', unset: 'no estimates' }),
    GRAPHQL_COSTS: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'weights that win over those of the schema', values: 'path of a JSON file' }),
    GRAPHQL_V1_SCHEMA: schemaLocation
      .optional()
      .meta({ description: 'the same for API v1', unset: 'no estimates' }),
    GRAPHQL_V1_COSTS: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'the same for API v1', values: 'path of a JSON file' }),
    GRAPHQL_COST_DEFAULTS: z
      .enum(['ibm', 'apollo'])
      .default('ibm')
      .describe('weights of what the schema gives none'),
    GRAPHQL_LIST_SIZE: wholeNumber(0, 1_000_000)
      .default(10)
      .describe('items of a list whose size neither arguments nor the schema tell'),
    GRAPHQL_DOCUMENTS: z.string().min(1).optional().meta({
      description: 'documents that callers may name by id: a manifest of Apollo or Relay',
      values: 'path of a JSON file',
    }),
    GRAPHQL_V1_DOCUMENTS: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'the same for API v1', values: 'path of a JSON file' }),
    GRAPHQL_TRUSTED_DOCUMENTS: z
      .enum(['off', 'all'])
      .default('off')
      .describe('`all` runs only documents of these manifests, sent by id or as text'),
    APQ: z
      .enum(['learn', 'pass'])
      .default('learn')
      .describe(
        'automatic persisted queries: known by their registrations, or forwarded unread for the data API to know',
      ),
    ESTIMATES_PER_MINUTE: wholeNumber(1, 1_000_000)
      .default(120)
      .describe("one payer's estimates, and one account's refused documents, on this gateway, then 429"),
    GRAPHQL_UPLOADS: z
      .enum(['off', 'on'])
      .default('off')
      .describe('`on` accepts file uploads: `multipart/form-data`'),
    // Node.js' own limit for a request is 300 s.
    REQUEST_BODY_TIMEOUT_MS: wholeNumber(1, 300_000)
      .default(60_000)
      .describe("time limit for receiving a data call's body, then 408"),
    PLAIN_ROUTE_TIMEOUT_MS: wholeNumber(1, 600_000)
      .default(30_000)
      .describe('silence of auth or account on the routes passed to them, then 503'),
    PLAIN_ROUTE_CONNECTIONS: wholeNumber(1, 10_000)
      .default(256)
      .describe('connections to auth, and to account, for these routes'),
    PLAIN_ROUTE_MAX_OPEN_PER_ADDRESS: wholeNumber(1, 1_000_000)
      .default(64)
      .describe('open requests of one client address to either of them, then 503'),
    PLAIN_ROUTE_MAX_BODY_BYTES: wholeNumber(1_024, 1_048_576)
      .default(65_536)
      .describe('larger request bodies on these routes get 413'),
    PLAIN_ROUTE_BODY_TIMEOUT_MS: wholeNumber(1, 300_000)
      .default(30_000)
      .describe('time limit for receiving such a body, then 408'),
    PLAIN_ROUTE_SLOW_READER_MS: wholeNumber(1, 600_000)
      .default(10_000)
      .describe('time in which a caller must take the next 64 KiB of an answer'),
  },
  caches: {
    ...introspectionSettings(100_000),
    ENTITLEMENT_CACHE_TTL_MS: wholeNumber(0, 600_000)
      .default(300_000)
      .describe('how long an entitlement is used, unless account publishes a change'),
    ENTITLEMENT_STALE_IF_ERROR_MS: wholeNumber(0, 86_400_000)
      .default(3_600_000)
      .describe('how long a known entitlement is served while account is unavailable; 0 disables this'),
    ENTITLEMENT_CACHE_MAX_ENTRIES: wholeNumber(1, 10_000_000)
      .default(100_000)
      .describe('maximum size of the entitlement cache'),
  },
  upstream: {
    UPSTREAM_URL: upstreamUrls.describe('the GraphQL endpoint'),
    UPSTREAM_V1_URL: upstreamUrls.optional().describe('the GraphQL endpoint of API v1'),
    UPSTREAM_CONNECTIONS: wholeNumber(1, 10_000)
      .default(256)
      .describe('maximum number of connections to each address'),
    UPSTREAM_CONNECTIONS_PER_PAYER: wholeNumber(1, 10_000)
      .default(128)
      .describe("connections to each address that one payer's calls use at most"),
    UPSTREAM_STREAMS: wholeNumber(1, 1_000_000)
      .default(2_000)
      .describe('open streams of this gateway, with connections of their own, then 503'),
    UPSTREAM_STREAMS_PER_PAYER: wholeNumber(1, 1_000_000)
      .default(500)
      .describe('open streams of one payer on this gateway, then 429'),
    UPSTREAM_CONNECT_TIMEOUT_MS: wholeNumber(1, 600_000)
      .default(3_000)
      .describe('time limit for getting a connection, then 502 or 503'),
    UPSTREAM_HEADERS_TIMEOUT_MS: wholeNumber(1, 600_000)
      .default(30_000)
      .describe("time limit for the response's head, then 504"),
    UPSTREAM_BODY_IDLE_TIMEOUT_MS: wholeNumber(1, 600_000).default(30_000).describe('silence within a body'),
    UPSTREAM_WHOLE_TIMEOUT_MS: wholeNumber(0, 86_400_000)
      .default(300_000)
      .describe('time limit for the whole exchange, then 504; 0 for none'),
    UPSTREAM_CALLS_PER_CONNECTION: wholeNumber(1, 1_000_000)
      .default(1_000)
      .describe('calls before a connection is replaced; 1 gives each call its own'),
    UPSTREAM_KEEP_ALIVE_MS: wholeNumber(1, 600_000)
      .default(4_000)
      .describe('how long an unused connection is kept'),
    UPSTREAM_EJECTION_FAILURES: wholeNumber(1, 1_000)
      .default(5)
      .describe('failed exchanges in a row that eject an address'),
    UPSTREAM_EJECTION_MIN_MS: wholeNumber(1, 600_000)
      .default(1_000)
      .describe("duration of an address' first ejection"),
    UPSTREAM_EJECTION_MAX_MS: wholeNumber(1, 3_600_000)
      .default(60_000)
      .describe('maximum duration of an ejection'),
  },
  usage: {
    DEFAULT_POINTS: wholeNumber(0, 1_000_000_000)
      .default(1)
      .describe('price of a call for which the data API states none'),
    MISSING_POINTS: z
      .enum(['default', 'estimate'])
      .default('default')
      .describe(
        'what a call costs for which the data API states no price: `DEFAULT_POINTS`, or its estimate where it has one',
      ),
    SUBSCRIPTION_POINTS_PER_MINUTE: wholeNumber(0, 1_000_000_000)
      .default(0)
      .describe('points of an open subscription for each minute begun'),
    ADMISSION_SHARE_TRUST_MS: wholeNumber(0, MAX_TRUST_MS)
      .default(MAX_TRUST_MS)
      .describe(
        'how long calls of a busy payer are admitted from a share without asking Redis; 0 takes no shares',
      ),
    SETTLEMENT_INTERVAL_MS: wholeNumber(0, 100)
      .default(0)
      .describe(
        'how far apart the batches of a lane begin at least: with a hundred gateways, 20 spares Redis and the gateways work, and calls end up to 20 ms later',
      ),
    SETTLEMENT_QUEUE_MAX_EVENTS: wholeNumber(1, 10_000_000)
      .default(10_000)
      .describe('finished calls queued for Redis; beyond it new calls get 503'),
    SETTLEMENT_TIMEOUT_MS: wholeNumber(1, 600_000)
      .default(2_000)
      .describe('how long a finished response waits for Redis to acknowledge its usage'),
    SETTLEMENT_UNACKNOWLEDGED: z
      .enum(['refuse', 'pass'])
      .default('refuse')
      .describe('what happens to the response after `SETTLEMENT_TIMEOUT_MS`'),
    REFUSED_CALLS_RECORDED_PER_SEC: wholeNumber(0, 10_000)
      .default(100)
      .describe('refused and failed calls that this gateway records per second; 0 only counts them'),
  },
  sockets: {
    UPSTREAM_WS_URL: upstreamWsUrls
      .optional()
      .meta({ description: 'the endpoint for WebSockets', unset: '`UPSTREAM_URL` with `ws`' }),
    UPSTREAM_WS_MAX_MESSAGE_BYTES: wholeNumber(1, 1_073_741_824)
      .default(4_194_304)
      .describe('maximum size of an upstream message'),
    UPSTREAM_POINTS_EXTENSION: z
      .string()
      .regex(
        /^[^.\s]+(?:\.[^.\s]+)*$/,
        'must be the name of a member of `extensions`, or names separated by dots',
      )
      .default('points')
      .meta({
        description: 'path below `extensions` at which a message states its points',
        values: 'names, separated by dots',
      }),
    WEBSOCKET_OPERATIONS: z
      .enum(['all', 'subscriptions'])
      .default('all')
      .describe('`subscriptions` refuses everything else over WebSocket'),
    WEBSOCKET_MAX_SOCKETS: wholeNumber(1, 1_000_000)
      .default(20_000)
      .describe('open sockets on this gateway, then 503'),
    WEBSOCKET_MAX_SOCKETS_PER_ACCOUNT: wholeNumber(1, 1_000_000)
      .default(2_000)
      .describe('open sockets of one account on this gateway, then 429 or 4429'),
    WEBSOCKET_MAX_UNIDENTIFIED: wholeNumber(1, 1_000_000)
      .default(1_000)
      .describe('sockets on this gateway that have not sent a token yet, then 503'),
    WEBSOCKET_MAX_UNIDENTIFIED_PER_ADDRESS: wholeNumber(1, 1_000_000)
      .default(100)
      .describe('such sockets from one client address (IPv6: one /64), then 429'),
    WEBSOCKET_MAX_OPERATIONS: wholeNumber(1, 100_000)
      .default(100)
      .describe('open operations on one socket; further ones get an error'),
    WEBSOCKET_MAX_MESSAGES_PER_SEC: wholeNumber(1, 1_000_000)
      .default(500)
      .describe("messages of one caller's socket, including control frames, then 4429"),
    WEBSOCKET_MAX_MESSAGE_BYTES: wholeNumber(1, 1_073_741_824)
      .default(262_144)
      .describe("maximum size of a caller's message, then 1009"),
    WEBSOCKET_BUFFER_MAX_BYTES: wholeNumber(1, 1_073_741_824)
      .default(262_144)
      .describe('bytes buffered for a slow peer before its source is paused'),
    WEBSOCKET_STALL_TIMEOUT_MS: wholeNumber(1, 600_000)
      .default(10_000)
      .describe('how long bytes can stay buffered, then 4429 for a caller or 1013 for the upstream'),
    WEBSOCKET_INIT_TIMEOUT_MS: wholeNumber(1, 60_000)
      .default(5_000)
      .describe('from the upgrade to `connection_init`, then 4401 without a token or 4408 with one'),
    WEBSOCKET_IDLE_TIMEOUT_MS: wholeNumber(1, 86_400_000)
      .default(600_000)
      .describe('a socket without operations, then 4408'),
    // Clients of the older protocol close after 30 s without a `ka`.
    WEBSOCKET_PING_INTERVAL_MS: wholeNumber(1, 20_000)
      .default(12_000)
      .describe('interval of pings to callers and the upstream, and of `ka`'),
    WEBSOCKET_SETTLE_INTERVAL_MS: wholeNumber(1, 5_000)
      .default(5_000)
      .describe('how often the usage of open operations is recorded'),
    WEBSOCKET_RECONNECT_SPREAD_MS: wholeNumber(0, 60_000)
      .default(1_000)
      .describe('time over which sockets that must close together are closed'),
  },
  traces: traceSettings('tollgate-gateway'),
};

export const schema = z
  .object({
    ...processSettings,
    ...callerSettings,
    TOKEN_PREFIX: tokenPrefixSetting,
    ...redisTlsSettings,
    ...SETTINGS.calls,
    ...SETTINGS.caches,
    ...SETTINGS.upstream,
    ...SETTINGS.usage,
    ...SETTINGS.sockets,
    ...SETTINGS.traces,
  })
  .superRefine(checkRedisTls)
  .superRefine(({ SETTLEMENT_INTERVAL_MS, SETTLEMENT_TIMEOUT_MS }, context) => {
    if (SETTLEMENT_INTERVAL_MS < SETTLEMENT_TIMEOUT_MS) return;
    context.addIssue({
      code: 'custom',
      path: ['SETTLEMENT_INTERVAL_MS'],
      message: 'must be less than SETTLEMENT_TIMEOUT_MS, since responses wait for it',
    });
  })
  .superRefine(({ APQ, STRICT_POINTS }, context) => {
    if (APQ === 'learn' || STRICT_POINTS !== 'all') return;
    context.addIssue({
      code: 'custom',
      path: ['APQ'],
      message: 'must be learn with STRICT_POINTS=all, since what is forwarded unread has no estimate',
    });
  })
  .superRefine(({ GRAPHQL_READ, STRICT_POINTS, GRAPHQL_TRUSTED_DOCUMENTS }, context) => {
    if (GRAPHQL_READ === 'on' || (STRICT_POINTS !== 'all' && GRAPHQL_TRUSTED_DOCUMENTS === 'off')) return;
    context.addIssue({
      code: 'custom',
      path: ['GRAPHQL_READ'],
      message: 'must be on with STRICT_POINTS=all or GRAPHQL_TRUSTED_DOCUMENTS=all, which would not hold',
    });
  })
  .superRefine((settings, context) => {
    if (settings.GRAPHQL_TRUSTED_DOCUMENTS === 'off') return;
    const refuse = (name: 'APQ' | 'GRAPHQL_DOCUMENTS' | 'GRAPHQL_V1_DOCUMENTS', message: string) => {
      context.addIssue({ code: 'custom', path: [name], message });
    };
    const named = 'must name a manifest with GRAPHQL_TRUSTED_DOCUMENTS=all: nothing else would run';
    if (settings.GRAPHQL_DOCUMENTS === undefined) refuse('GRAPHQL_DOCUMENTS', named);
    if (settings.UPSTREAM_V1_URL !== undefined && settings.GRAPHQL_V1_DOCUMENTS === undefined)
      refuse('GRAPHQL_V1_DOCUMENTS', named);
    if (settings.APQ === 'pass')
      refuse('APQ', 'must be learn with GRAPHQL_TRUSTED_DOCUMENTS=all, since hashes are forwarded unread');
  });

export type Config = z.output<typeof schema>;

/** What holds with GRAPHQL_READ=off, whatever the settings say. Over WebSocket, operations still have types. */
const WITHOUT_READING = {
  GRAPHQL_MAX_DEPTH: 0,
  GRAPHQL_MAX_ALIASES: 0,
  GRAPHQL_MAX_ROOT_FIELDS: 0,
  GRAPHQL_MAX_TOKENS: 0,
  GRAPHQL_MAX_DIRECTIVES: 0,
  GRAPHQL_INTROSPECTION: 'on',
  GRAPHQL_SCHEMA: undefined,
  GRAPHQL_V1_SCHEMA: undefined,
  GRAPHQL_DOCUMENTS: undefined,
  GRAPHQL_V1_DOCUMENTS: undefined,
  APQ: 'pass',
  STRICT_POINTS: 'off',
  MISSING_POINTS: 'default',
} as const satisfies Partial<Config>;

/** @throws {ConfigError} with all faults. */
export function loadConfig(): Config {
  const config = readConfig(schema, process.env);
  return config.GRAPHQL_READ === 'on' ? config : { ...config, ...WITHOUT_READING };
}
