import { isIP } from 'node:net';
import { z } from 'zod';
import { parseRedisUrl } from '@tollgate/redis/redis-url';
import { redisTlsSettings } from './store-tls.ts';

// No message of a setting repeats its value, which may be a secret.

/** A decimal whole number; its unit is in the variable's name. */
export function wholeNumber(min: number, max: number): z.ZodType<number> {
  const wanted = `must be a whole number from ${String(min)} to ${String(max)}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, wanted)
    .transform(Number)
    .refine((value) => value >= min && value <= max, wanted);
}

/** Trailing slashes are dropped. */
export const httpUrl = z
  .string()
  .refine(isHttpUrl, 'must be an http:// or https:// URL without user or password')
  .transform((value) => value.replace(/(?<!\/)\/+$/, ''));

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
  );

function isNetwork(value: string): boolean {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(value) ?? [];
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return bits > 0 && (prefix === undefined || (Number(prefix) >= 1 && Number(prefix) <= bits));
}

/** A URL with one of the schemes, such as `postgres:`. It may contain credentials. */
export function connectionUrl(...schemes: string[]): z.ZodType<string> {
  return z.string().refine(
    (value) => {
      const url = URL.canParse(value) ? new URL(value) : undefined;
      return url !== undefined && schemes.includes(url.protocol);
    },
    `must be a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
  );
}

/** One server, sentinels or nodes of a Redis Cluster (docs/design/stores.md). */
export const redisUrl: z.ZodType<string> = z.string().superRefine((value, context) => {
  try {
    parseRedisUrl(value);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
  }
});

export const secret = z.string().min(16, 'must have at least 16 characters');

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
  );

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
  });

export const processSettings = {
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ACCESS_LOG: z.enum(['off', 'stdout', 'stderr']).default('off'),
  PUBLIC_HOST: z.string().default('0.0.0.0'),
  PUBLIC_PORT: wholeNumber(0, 65_535),
  PRIVATE_HOST: z.string().default('0.0.0.0'),
  PRIVATE_PORT: wholeNumber(0, 65_535),
  SHUTDOWN_DELAY_MS: wholeNumber(0, 600_000).default(0),
  SHUTDOWN_TIMEOUT_MS: wholeNumber(100, 600_000).default(10_000),
  /** How long an idle connection stays open for a request that is on its way. */
  SHUTDOWN_IDLE_GRACE_MS: wholeNumber(0, 60_000).default(500),
  MAX_URL_BYTES: wholeNumber(1_024, 1_048_576).default(8_192),
  MAX_HEADER_BYTES: wholeNumber(2_048, 1_048_576).default(16_384),
  MAX_HEADER_COUNT: wholeNumber(16, 10_000).default(100),
  PLAIN_HTTP: z.enum(['off', 'on']).default('on'),
  // Without subdomains: other services of the domain may have no TLS.
  STRICT_TRANSPORT_SECURITY: strictTransportSecurity.prefault('max-age=31536000'),
  SERVICE_CREDENTIALS: serviceCredentials,
  REDIS_URL: redisUrl,
  ...redisTlsSettings,
};

/** Of services that read a request to its end before they act on it. */
export const requestSettings = {
  /** Between two bytes of a request. */
  REQUEST_IDLE_TIMEOUT_MS: wholeNumber(100, 600_000).default(10_000),
  /** From a request's first byte to its last. */
  REQUEST_RECEIVE_TIMEOUT_MS: wholeNumber(100, 600_000).default(30_000),
};

/** Of services that call another one's private listener. */
export const callerSettings = {
  SERVICE_CLIENT_ID: z.string().min(1),
  SERVICE_CLIENT_SECRET: secret,
  PRIVATE_API_TIMEOUT_MS: wholeNumber(1, 60_000).default(2_000),
  /** An older connection takes no new request, so that a changed DNS record takes effect. */
  CONNECTION_MAX_AGE_MS: wholeNumber(1, 86_400_000).default(300_000),
};
