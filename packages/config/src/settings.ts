import { isIP } from 'node:net';
import { z } from 'zod';
import { parseRedisUrl } from '@tollgate/redis/redis-url';

// No message of a setting repeats its value, which may be a secret.

declare module 'zod' {
  /** What docs/configuration.md says about a setting beside its description and default. */
  interface GlobalMeta {
    /** What it can be, unless it is an enum, which says so itself. */
    values?: string;
    isSecret?: boolean;
    /** What applies if it isn't set and has no default of its own. */
    unset?: string;
  }
}

/** A decimal whole number; its unit is in the variable's name. */
export function wholeNumber(min: number, max: number): z.ZodType<number> {
  const wanted = `must be a whole number from ${String(min)} to ${String(max)}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, wanted)
    .transform(Number)
    .refine((value) => value >= min && value <= max, wanted)
    .meta({ values: `${String(min)} to ${String(max)}` });
}

/** Trailing slashes are dropped. */
export const httpUrl = z
  .string()
  .refine(isHttpUrl, 'must be an http:// or https:// URL without user or password')
  .transform((value) => value.replace(/(?<!\/)\/+$/, ''))
  .meta({ values: 'an `http://` or `https://` URL' });

/** Only for an origin is the metadata at the address that RFC 8414, section 3.1, derives. */
export const issuerUrl = httpUrl.refine(
  (value) => URL.canParse(value) && new URL(value).origin === value,
  'must be an http:// or https:// address without path, in lower case and without a default port',
);

/** Hosts of client ID metadata documents, as `URL.host` spells them. */
export const documentHosts = z
  .string()
  .transform((value) => value.split(/\s+/).filter((host) => host !== ''))
  .refine(
    (hosts) =>
      hosts.every((host) => URL.canParse(`https://${host}`) && new URL(`https://${host}`).host === host),
    'must be hosts such as agent.example or agent.example:8443, separated by white space',
  );

export const trueOrFalse = z.enum(['true', 'false']).transform((value) => value === 'true');

function isHttpUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

export const networks = z
  .string()
  .transform((value) => value.split(/\s+/).filter((network) => network !== ''))
  .refine(
    (value) => value.every(isNetwork),
    'must be IP addresses or networks in CIDR notation, separated by white space',
  )
  .meta({ values: 'IP addresses and networks in CIDR notation' });

function isNetwork(value: string): boolean {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(value) ?? [];
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return bits > 0 && (prefix === undefined || (Number(prefix) >= 1 && Number(prefix) <= bits));
}

/** A URL with one of the schemes, such as `postgres:`. It may contain credentials. */
export function connectionUrl(...schemes: string[]): z.ZodType<string> {
  return z
    .string()
    .refine(
      (value) => {
        const url = URL.canParse(value) ? new URL(value) : undefined;
        return url !== undefined && schemes.includes(url.protocol);
      },
      `must be a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    )
    .meta({ values: schemes.map((scheme) => `\`${scheme}//…\``).join(', '), isSecret: true });
}

/** One server, sentinels or nodes of a Redis Cluster (docs/design/stores.md). */
export const redisUrl: z.ZodType<string> = z
  .string()
  .superRefine((value, context) => {
    try {
      parseRedisUrl(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
    }
  })
  .meta({ isSecret: true });

export const secret = z
  .string()
  .min(16, 'must have at least 16 characters')
  .meta({ values: 'at least 16 characters', isSecret: true });

/** The callers that a private listener accepts. Pairs may share an id, so that a secret rotates without an outage. */
export const serviceCredentials = z
  .string()
  .transform((value) => value.split(/\s+/).filter((pair) => pair !== ''))
  .refine(
    (pairs) => pairs.length > 0 && pairs.every((pair) => /^[A-Za-z0-9._-]+:.{16,}$/.test(pair)),
    'must be id:secret pairs separated by white space, each secret with at least 16 characters',
  )
  .transform((pairs) =>
    pairs.map((pair) => {
      const colon = pair.indexOf(':');
      return { id: pair.slice(0, colon), secret: pair.slice(colon + 1) };
    }),
  )
  .meta({ values: '`id:secret` pairs', isSecret: true });

export type StrictTransportSecurity =
  false | { maxAge: number; includeSubDomains: boolean; preload: boolean };

const HSTS = /^max-age=(\d{1,10})(; ?includeSubDomains)?((?<=includeSubDomains); ?preload)?$/i;

/** The value of Strict-Transport-Security (RFC 6797, section 6.1) as helmet takes it; false for `off`. */
const strictTransportSecurity = z
  .string()
  .refine(
    (value) => value === 'off' || HSTS.test(value),
    'must be off, or max-age=<seconds>, which `; includeSubDomains` and then `; preload` may follow',
  )
  .transform((value): StrictTransportSecurity => {
    const [, maxAge, subDomains, preload] = HSTS.exec(value) ?? [];
    if (maxAge === undefined) return false;
    return {
      maxAge: Number(maxAge),
      includeSubDomains: subDomains !== undefined,
      preload: preload !== undefined,
    };
  })
  .meta({ values: '`max-age=…`, `off`' });

export const processSettings = {
  PUBLIC_HOST: z.string().default('0.0.0.0').describe('address of the listener for callers'),
  PUBLIC_PORT: wholeNumber(0, 65_535).describe('port of the listener for callers'),
  PRIVATE_HOST: z
    .string()
    .default('0.0.0.0')
    .describe('address of the listener for other services, operators, health checks and metrics'),
  PRIVATE_PORT: wholeNumber(0, 65_535).describe('port of that listener'),
  SERVICE_CREDENTIALS: serviceCredentials.describe('callers accepted on the private listener'),
  REDIS_URL: redisUrl.describe('address of Redis, the same for all services'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('the least severe lines that are logged'),
  ACCESS_LOG: z
    .enum(['off', 'stdout', 'stderr'])
    .default('off')
    .describe('where an access log is written, whatever `LOG_LEVEL` is'),
  SHUTDOWN_DELAY_MS: wholeNumber(0, 600_000)
    .default(0)
    .describe('how long a service still accepts requests after SIGTERM, while readiness fails'),
  SHUTDOWN_TIMEOUT_MS: wholeNumber(100, 600_000)
    .default(10_000)
    .describe('time limit for the shutdown after `SHUTDOWN_DELAY_MS`'),
  SHUTDOWN_IDLE_GRACE_MS: wholeNumber(0, 60_000)
    .default(500)
    .describe('how long idle keep-alive connections stay open during a shutdown'),
  MAX_URL_BYTES: wholeNumber(1_024, 1_048_576)
    .default(8_192)
    .describe('maximum size of a request target; larger ones get 414'),
  MAX_HEADER_BYTES: wholeNumber(2_048, 1_048_576)
    .default(16_384)
    .describe("maximum size of a request's head, including its first line; larger ones get 431"),
  MAX_HEADER_COUNT: wholeNumber(16, 10_000)
    .default(100)
    .describe('maximum number of header fields; more get 431'),
  PLAIN_HTTP: z
    .enum(['off', 'on'])
    .default('on')
    .describe('`off` leaves every message to node:http and undici'),
  // Without subdomains: other services of the domain may have no TLS.
  STRICT_TRANSPORT_SECURITY: strictTransportSecurity
    .prefault('max-age=31536000')
    .describe('the header of that name (HSTS) on responses of the public listener'),
};

/** Of services that read a request to its end before they act on it. */
export const requestSettings = {
  REQUEST_IDLE_TIMEOUT_MS: wholeNumber(100, 600_000)
    .default(10_000)
    .describe('a request that sends no byte for this long gets 408'),
  REQUEST_RECEIVE_TIMEOUT_MS: wholeNumber(100, 600_000)
    .default(30_000)
    .describe('a request that takes longer from its first to its last byte gets 408'),
};

/** Of services that call another one's private listener. */
export const callerSettings = {
  SERVICE_CLIENT_ID: z
    .string()
    .min(1)
    .describe("id of this service's credential at the others' private listeners"),
  SERVICE_CLIENT_SECRET: secret.describe('secret of `SERVICE_CLIENT_ID`'),
  PRIVATE_API_TIMEOUT_MS: wholeNumber(1, 60_000)
    .default(2_000)
    .describe("timeout of one call to another service's private listener"),
  /** An older connection takes no new request, so that a changed DNS record takes effect. */
  CONNECTION_MAX_AGE_MS: wholeNumber(1, 86_400_000)
    .default(300_000)
    .describe('maximum age of connections to services, upstream and Postgres'),
};
