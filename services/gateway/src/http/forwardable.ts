import { isSetByProxies } from './set-by-proxies.ts';

/** Fields of one connection (RFC 9110, section 7.6.1); `proxy-…` ones are dropped by their prefix. */
const HOP_BY_HOP = [
  'connection',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Fields that only the gateway may set. */
const SET_BY_GATEWAY = [
  'content-length',
  'expect',
  'host',
  'x-account-id',
  'x-application-id',
  'x-payer-id',
  'x-request-id',
  // baggage would bring a caller's values into the operator's telemetry.
  'baggage',
  'traceparent',
  'tracestate',
  'via',
];

/**
 * What tells how the body is to be read. Without it Rack reads a form, whatever the gateway has read; so no Connection
 * field takes it away (RFC 9110, section 7.6.1), and no other spelling takes its place.
 */
const OF_BODY = new Set(['content-encoding', 'content-type']);

const DROPPED_FROM_REQUESTS = new Set([...HOP_BY_HOP, ...SET_BY_GATEWAY]);
const DROPPED_FROM_ANSWERS = new Set(HOP_BY_HOP);

/** The names in a message's Connection fields, in lower case. */
export function connectionOptions(values: readonly string[]): ReadonlySet<string> {
  // By far the most frequent; keep-alive is dropped anyway.
  if (values.length === 0 || (values.length === 1 && values[0] === 'keep-alive')) return NONE;
  return new Set(values.flatMap((value) => value.toLowerCase().split(/[\s,]+/)));
}

const NONE: ReadonlySet<string> = new Set();

/** Whether a caller's header field goes on to the next server; `listed` are its connectionOptions. */
export function forwardsRequestField(name: string, listed: ReadonlySet<string>): boolean {
  const canonical = canonicalName(name);
  if (OF_BODY.has(canonical)) return name.toLowerCase() === canonical;
  return (
    !DROPPED_FROM_REQUESTS.has(canonical) &&
    !canonical.startsWith('proxy-') &&
    !isSetByProxies(canonical) &&
    !listed.has(canonical)
  );
}

/** Whether a response's header field (lower case) goes on to the caller. */
export function forwardsAnswerField(name: string, listed: ReadonlySet<string>): boolean {
  return !DROPPED_FROM_ANSWERS.has(name) && !name.startsWith('proxy-') && !listed.has(name);
}

/** CGI, WSGI and Rack take `X_Account_Id` for `X-Account-Id`. */
function canonicalName(name: string): string {
  const lower = name.toLowerCase();
  return /[^a-z0-9-]/.test(lower) ? lower.replaceAll(/[^a-z0-9-]/g, '-') : lower;
}
