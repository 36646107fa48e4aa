import type { IncomingMessage } from 'node:http';
import { canonicalAddress } from '@tollgate/http/canonical-address';
import { forwardedFieldsOf, forwardedHops } from '@tollgate/http/forwarded-hops';
import { fieldValues, singleValue } from '@tollgate/http/request-head';

export type Origin = Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'> & {
  socket: { remoteAddress?: string | undefined };
};

/** X-Forwarded-For, -Proto, -Host (continued if `trusted`) and Via (RFC 9110, section 7.6.3) as a flat list. */
export function forwardedFields(req: Origin, trusted = false): string[] {
  const { rawHeaders } = req;
  const earlier = trusted ? earlierHops(rawHeaders) : NONE;
  const fields = ['x-forwarded-proto', earlier.proto ?? 'http'];
  const hops = joined(earlier.addresses, canonicalAddress(req.socket.remoteAddress ?? ''));
  if (hops !== '') fields.push('x-forwarded-for', hops);
  const host = earlier.host ?? fieldValues(rawHeaders, 'host')[0];
  if (host !== undefined) fields.push('x-forwarded-host', host);
  fields.push('via', joined(fieldValues(rawHeaders, 'via'), `${req.httpVersion} tollgate`));
  return fields;
}

function joined(earlier: readonly string[], own: string | undefined): string {
  if (own === undefined) return earlier.join(', ');
  return earlier.length === 0 ? own : `${earlier.join(', ')}, ${own}`;
}

type EarlierHops = {
  addresses: readonly string[];
  proto: string | undefined;
  host: string | undefined;
};

const NONE: EarlierHops = { addresses: [], proto: undefined, host: undefined };

/** Checks each value's form, as even a trusted proxy may pass on what a stranger wrote. */
function earlierHops(rawHeaders: readonly string[]): EarlierHops {
  const proto = singleValue(rawHeaders, 'x-forwarded-proto');
  const host = singleValue(rawHeaders, 'x-forwarded-host');
  return {
    addresses: forwardedHops(forwardedFieldsOf(rawHeaders)),
    proto: proto !== undefined && /^https?$/i.test(proto) ? proto.toLowerCase() : undefined,
    host: host !== undefined && /^[A-Za-z0-9._:[\]-]{1,255}$/.test(host) ? host : undefined,
  };
}
