import type { IncomingMessage } from 'node:http';
import { fieldIndex } from '@tollgate/http/request-head';

/** A DNS name or an address, with or without a port (RFC 3986, section 3.2). */
const AUTHORITY = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

const ABSOLUTE = /^https?:\/\/([^/?#]*)([/?#].*)?$/i;

/** The fault of a request's Host fields, or null (RFC 9112, section 3.2). `req.headers` has only the first. */
export function hostFault({
  rawHeaders,
  httpVersionMinor,
}: Pick<IncomingMessage, 'rawHeaders' | 'httpVersionMinor'>): string | null {
  const found = fieldIndex(rawHeaders, 'host');
  if (found === -1) return httpVersionMinor > 0 ? 'The request has no Host header.' : null;
  if (fieldIndex(rawHeaders, 'host', found + 2) !== -1) return 'There is more than one Host header.';
  return AUTHORITY.test(rawHeaders[found + 1] ?? '') ? null : 'The Host header is invalid.';
}

/** Turns an absolute target into origin form; its host replaces Host (RFC 9112, section 3.2.2). Returns its fault. */
export function toOriginForm(req: Pick<IncomingMessage, 'url' | 'rawHeaders' | 'headers'>): string | null {
  const [, authority, rest = ''] = ABSOLUTE.exec(req.url ?? '') ?? [];
  if (authority === undefined) return 'The request target must be a path, or an http or https URL.';
  if (!AUTHORITY.test(authority)) return 'The host in the request target is invalid.';
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
  req.headers.host = authority;
  const host = fieldIndex(req.rawHeaders, 'host');
  if (host === -1) req.rawHeaders.push('Host', authority);
  else req.rawHeaders[host + 1] = authority;
  return null;
}
