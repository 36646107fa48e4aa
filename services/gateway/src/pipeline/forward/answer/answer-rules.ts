import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { Cors } from '@tollgate/http/cors';
import { keepLast } from '@tollgate/plain-http/repeated-heads';
import { isDropped } from './dropped-fields.ts';
import { endToEndFields } from '../../../http/end-to-end-fields.ts';
import { privateCacheControl } from './private-cache-control.ts';

export type CorsFields = Cors['fields'];

/** Which of the upstream's header fields go on to callers, and which are added. */
export type AnswerRules = {
  /** The upstream's fields that go on to the caller, as a flat list. */
  ofUpstream: (headers: IncomingHttpHeaders) => readonly string[];
  adds: readonly string[];
  /** Host names of the upstream, without ports. */
  upstreamHosts: ReadonlySet<string>;
};

export function createAnswerRules(upstreamUrls: readonly string[], cors: CorsFields | null): AnswerRules {
  const ofCors = new Set(cors?.drops);
  const drops = (name: string, value: string | readonly string[]) =>
    name === 'cache-control' || ofCors.has(name) || isDropped(name, value);
  return {
    // Responses with the same head share it (packages/plain-http's client).
    ofUpstream: keepLast((headers) => [...endToEndFields(headers, drops), ...cacheFields(headers)]),
    adds: cors?.adds ?? [],
    upstreamHosts: new Set(upstreamUrls.map((url) => new URL(url).hostname)),
  };
}

/**
 * A cache before the gateway knows neither token nor limits (docs/design/forwarding.md); a browser's may hold two
 * tokens' responses.
 */
function cacheFields(headers: IncomingHttpHeaders): string[] {
  return ['cache-control', privateCacheControl(headers['cache-control']), 'vary', 'Authorization'];
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
