import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only IPv6 block that is allocated for the Internet (IANA, IPv6 Global Unicast Address Assignments). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Refuses IANA's special-purpose ranges, and forms that stand for an IPv4 address (mapped, NAT64, 6to4,
 * Teredo), behind which a private one could be.
 */
export function isPublicAddress(address: string): boolean {
  // The library also accepts old forms such as 127.1.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST);
}
