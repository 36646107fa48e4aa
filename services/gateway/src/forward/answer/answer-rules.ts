import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { Cors } from '@tollgate/http/cors';
import { endToEndFields } from './end-to-end-fields.ts';

export type CorsFields = Cors['fields'];

/** Which of the upstream's header fields go on to callers, and which are added. */
export type AnswerRules = {
  /** The upstream's fields that go on to the caller, as a flat list. */
  ofUpstream: (headers: IncomingHttpHeaders) => readonly string[];
  adds: readonly string[];
  /** Host names of the upstream, without ports. */
  upstreamHosts: ReadonlySet<string>;
};

const DROPPED_FIELDS = [
  // Between the upstream and the gateway, or the gateway's own.
  'ratelimit',
  'ratelimit-policy',
  'x-billing-status',
  'x-points',
  'x-points-cost',
  'x-points-remaining',
  'x-request-id',
  // They concern the whole origin, which is the web interface's too.
  'alt-svc',
  'clear-site-data',
  'set-cookie',
  // A caller would take the challenge for the gateway's.
  'www-authenticate',
  // They reveal what and where the upstream is. See leadsOutside for Location.
  'content-location',
  'location',
  'refresh',
  'server',
  'x-powered-by',
];

export function createAnswerRules(upstreamUrls: readonly string[], cors: CorsFields | null): AnswerRules {
  const drops = new Set([...DROPPED_FIELDS, ...(cors?.drops ?? [])]);
  let last: { headers: IncomingHttpHeaders; fields: readonly string[] } | undefined;
  return {
    // Responses with the same head share it (packages/http's pool).
    ofUpstream: (headers) => {
      if (last?.headers !== headers) last = { headers, fields: endToEndFields(headers, drops) };
      return last.fields;
    },
    adds: cors?.adds ?? [],
    upstreamHosts: new Set(upstreamUrls.map((url) => new URL(url).hostname)),
  };
}

/** Names of private networks (RFC 6762; ICANN's resolution 2024.07.29.06). */
const INTERNAL_NAME = /(?:^[^.]*|\.(?:home\.arpa|internal|lan|local|localdomain|localhost|svc))$/;

/** Whether a redirect leads to a public host but the upstream's. A relative one would name a path of the gateway. */
export function leadsOutside(location: string, upstreamHosts: ReadonlySet<string>): boolean {
  if (!/^https?:\/\//i.test(location) || !URL.canParse(location)) return false;
  const hostname = new URL(location).hostname.replace(/\.$/, '');
  const isAddress = hostname.startsWith('[') || isIP(hostname) !== 0;
  return !isAddress && !INTERNAL_NAME.test(hostname) && !upstreamHosts.has(hostname);
}
