/**
 * Which header fields pass the gateway. Two rules are behind it: fields that concern one connection end with
 * it (RFC 9110, section 7.6.1), and what the gateway says of a call can't be said by the caller.
 */

/** Fields of one connection. `proxy-…` ones are dropped by their prefix. */
const HOP_BY_HOP = [
  'connection',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Request fields that the gateway sets itself, or that only it may set. */
const SET_BY_GATEWAY = [
  // Framing and routing of the next message.
  'content-length',
  'expect',
  'host',
  // Who calls.
  'x-account-id',
  'x-application-id',
  'x-payer-id',
  'x-request-id',
  // The trace starts here: tracestate belongs to the traceparent that is dropped (W3C Trace Context,
  // section 3.4), and baggage would carry a stranger's values into the operator's telemetry.
  'baggage',
  'traceparent',
  'tracestate',
  // Which servers passed the request on.
  'via',
];

/**
 * Where the call came from, in the words of load balancers, content delivery networks and frameworks: an upstream
 * that believes one of them would believe the caller. See isToldByProxies for those that are known by a prefix.
 */
const ORIGIN_OF_CALL = [
  'ali-cdn-real-ip',
  'cdn-src-ip',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-ipcountry',
  'cf-pseudo-ipv4',
  'client-ip',
  'do-connecting-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'forwarded',
  'forwarded-for',
  'incap-client-ip',
  'remote-addr',
  'true-client-ip',
  'wl-proxy-client-ip',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-forwarded',
  'x-host',
  'x-nf-client-connection-ip',
  'x-originating-ip',
  'x-proxyuser-ip',
  'x-real-ip',
  'x-remote-addr',
  'x-remote-ip',
  'x-rewrite-url',
  'x-vercel-forwarded-for',
];

const DROPPED_FROM_REQUESTS = new Set([...HOP_BY_HOP, ...SET_BY_GATEWAY, ...ORIGIN_OF_CALL]);
const DROPPED_FROM_ANSWERS = new Set(HOP_BY_HOP);

/** The names that a message's Connection fields list, in lower case. */
export function connectionOptions(values: readonly string[]): ReadonlySet<string> {
  // Nearly all say nothing or this, and the field of that name is dropped anyway.
  if (values.length === 0 || (values.length === 1 && values[0] === 'keep-alive')) return NONE;
  return new Set(values.flatMap((value) => value.toLowerCase().split(/[\s,]+/)));
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Whether a caller's header field goes on to the next server as it is. `listed` are the names in its
 * Connection fields; naming a field there removes the caller's own copy of it, never the one set here.
 */
export function forwardsRequestField(name: string, listed: ReadonlySet<string>): boolean {
  const canonical = canonicalName(name);
  return (
    !DROPPED_FROM_REQUESTS.has(canonical) &&
    !canonical.startsWith('proxy-') &&
    !isToldByProxies(canonical) &&
    !listed.has(canonical)
  );
}

function isToldByProxies(canonical: string): boolean {
  if (!canonical.startsWith('x-')) return false;
  return (
    canonical.startsWith('x-forwarded-') ||
    canonical.startsWith('x-original-') ||
    canonical.startsWith('x-envoy-')
  );
}

/** Whether an answer's header field (lower case) goes on to the caller. */
export function forwardsAnswerField(name: string, listed: ReadonlySet<string>): boolean {
  return !DROPPED_FROM_ANSWERS.has(name) && !name.startsWith('proxy-') && !listed.has(name);
}

/**
 * The name as servers that turn fields into variables see it: to CGI, WSGI and Rack, `X_Account_Id` and
 * `X-Account-Id` are one, so the first must not pass where the second doesn't.
 */
function canonicalName(name: string): string {
  const lower = name.toLowerCase();
  return /[^a-z0-9-]/.test(lower) ? lower.replaceAll(/[^a-z0-9-]/g, '-') : lower;
}
