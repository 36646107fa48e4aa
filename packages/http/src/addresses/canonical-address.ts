import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The one form for comparing: IPv6 by RFC 5952 without zone, `::ffff:192.0.2.1` as IPv4. Undefined for other text. */
export function canonicalAddress(text: string): string | undefined {
  // The form in which a listener of both families gives IPv4 callers.
  if (text.startsWith('::ffff:') && isIPv4(text.slice(7))) return text.slice(7);
  const family = isIP(text);
  if (family === 4) return text;
  if (family === 0) return undefined;
  const zone = text.indexOf('%');
  // Not by ipaddr.js, which takes `::192.0.2.1` for an IPv4 address and is slower (docs/design/listeners.md).
  const { hostname } = new URL(`http://[${zone === -1 ? text : text.slice(0, zone)}]`);
  const address = hostname.slice(1, -1);
  return address.startsWith('::ffff:') ? ipaddr.process(address).toString() : address;
}
