import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Of IPv6 only this is given out for the Internet (IANA, IPv6 Global Unicast Address Assignments). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an IP address is one of the public Internet: none of IANA's special-purpose ranges (loopback, private,
 * link-local, carrier-grade NAT, unique local, multicast, documentation, …), and none that stands for an IPv4
 * address in another form (mapped, NAT64, 6to4, Teredo), behind which a private one could be.
 */
export function isPublicAddress(address: string): boolean {
  // The library would also take what resolvers of old took, as 127.1.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST);
}
