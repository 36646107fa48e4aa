import { isIP } from 'node:net';
import type { Cors } from '@tollgate/http/cors';

/** What the gateway says of cross-origin requests itself, instead of the upstream. */
export type CorsFields = Cors['fields'];

/** What of the upstream's header fields doesn't reach the caller, and what is added to them. */
export type AnswerRules = {
  drops: ReadonlySet<string>;
  adds: readonly string[];
  /** Host names of the upstream, without ports. */
  upstreamHosts: ReadonlySet<string>;
};

const NOT_THE_UPSTREAMS = [
  // Between the upstream and the gateway, or the gateway's own.
  'ratelimit',
  'ratelimit-policy',
  'x-billing-status',
  'x-points',
  'x-points-cost',
  'x-points-remaining',
  'x-request-id',
  // Said of the whole origin, which is the web interface's too. The caller's cookies never reach the upstream.
  'alt-svc',
  'clear-site-data',
  'set-cookie',
  // The challenge for credentials that the gateway keeps from the upstream: a caller would take it for the gateway's.
  'www-authenticate',
  // What the upstream is made of, and where it is. Location passes where it leads elsewhere.
  'content-location',
  'location',
  'refresh',
  'server',
  'x-powered-by',
];

/** The rules for the answers of an upstream with these addresses. */
export function createAnswerRules(upstreamUrls: readonly string[], cors: CorsFields | null): AnswerRules {
  return {
    drops: new Set([...NOT_THE_UPSTREAMS, ...(cors?.drops ?? [])]),
    adds: cors?.adds ?? [],
    upstreamHosts: new Set(upstreamUrls.map((url) => new URL(url).hostname)),
  };
}

/** Names that are known inside a network only (RFC 6762; ICANN's resolution 2024.07.29.06). */
const INTERNAL_NAME = /(?:^[^.]*|\.(?:home\.arpa|internal|lan|local|localdomain|localhost|svc))$/;

/**
 * Whether the address of a redirect may reach the caller: an absolute one to a public host name that isn't the
 * upstream's. A relative one would name a path of the gateway.
 */
export function leadsOutside(location: string, upstreamHosts: ReadonlySet<string>): boolean {
  if (!/^https?:\/\//i.test(location) || !URL.canParse(location)) return false;
  const hostname = new URL(location).hostname.replace(/\.$/, '');
  const isAddress = hostname.startsWith('[') || isIP(hostname) !== 0;
  return !isAddress && !INTERNAL_NAME.test(hostname) && !upstreamHosts.has(hostname);
}
