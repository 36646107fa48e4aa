import { isIP, isIPv4 } from 'node:net';

/**
 * An IP address in the one form that it is compared and counted in: IPv6 in lower case and shortened (RFC 5952),
 * without a zone; an IPv4 address in IPv6's form (`::ffff:192.0.2.1`) as IPv4. Undefined for what is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  // What a listener of both families says of each IPv4 caller.
  if (text.startsWith('::ffff:') && isIPv4(text.slice(7))) return text.slice(7);
  const family = isIP(text);
  if (family === 4) return text;
  if (family === 0) return undefined;
  const zone = text.indexOf('%');
  const { hostname } = new URL(`http://[${zone === -1 ? text : text.slice(0, zone)}]`);
  const ip = hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(ip) ?? [];
  return high === undefined || low === undefined ? ip : `${twoBytes(high)}.${twoBytes(low)}`;
}

function twoBytes(group: string): string {
  const value = Number.parseInt(group, 16);
  return `${String(value >> 8)}.${String(value & 0xff)}`;
}
