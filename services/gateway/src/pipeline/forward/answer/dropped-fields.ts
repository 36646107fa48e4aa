/** Of an upstream's response, in lower case. Patterns are below. */
const DROPPED = new Set([
  // Between the upstream and the gateway, or the gateway's own.
  'ratelimit',
  'ratelimit-policy',
  'x-account-id',
  'x-application-id',
  'x-billing-status',
  'x-payer-id',
  'x-points',
  'x-points-cost',
  'x-points-estimate',
  'x-points-remaining',
  'x-request-id',
  // They concern the whole origin or host, which is the web interface's too.
  'accept-ch',
  'accept-ch-lifetime',
  'alt-svc',
  'cache-group-invalidation',
  'clear-site-data',
  'critical-ch',
  'expect-ct',
  'nel',
  'origin-agent-cluster',
  'public-key-pins',
  'public-key-pins-report-only',
  'report-to',
  'reporting-endpoints',
  'secure-session-challenge',
  'secure-session-registration',
  'service-worker-allowed',
  'set-cookie',
  'set-cookie2',
  'set-login',
  'strict-transport-security',
  'use-as-dictionary',
  // Commands to a CDN or server in front of the gateway: what to store, purge or send instead.
  'cache-tag',
  'cache-tags',
  'edge-cache-tag',
  'edge-control',
  'x-cache-tags',
  'x-lighttpd-send-file',
  'x-reproxy-url',
  'x-sendfile',
  'xkey',
  // A caller would take the challenge for the gateway's.
  'www-authenticate',
  // They reveal what and where the upstream is. answer-fields.ts decides on Location.
  'content-location',
  'location',
  'refresh',
  'server',
  'x-powered-by',
]);

/** Targeted Cache-Control (RFC 9213), such as Cloudflare-CDN-Cache-Control; Fastly's, LiteSpeed's and nginx' commands. */
const COMMANDS_TO_CACHES = /(?:-cache-control$|^surrogate-|^x-litespeed-|^x-accel-(?!buffering$))/;

/** Link relations that make browsers load or connect, and CDNs send Early Hints (RFC 8297). */
const LOADS =
  /\b(?:compression-dictionary|dns-prefetch|modulepreload|preconnect|prefetch|preload|prerender)\b/i;

/**
 * Whether a field of an upstream's response (docs/design/forwarding.md) ends at the gateway. A Link that loads goes as
 * a whole.
 */
export function isDropped(name: string, value: string | readonly string[]): boolean {
  if (name === 'link') return LOADS.test(String(value).replaceAll('\\', ''));
  return DROPPED.has(name) || COMMANDS_TO_CACHES.test(name);
}
