import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { canonicalAddress } from './canonical-address.ts';

/**
 * An IPv4 address as it is, an IPv6 address as its /64: whoever has one IPv6 address has all of its network,
 * and would otherwise get a fresh count with each. Other text stays as it is.
 */
export function addressGroup(text: string): string {
  const address = canonicalAddress(text) ?? text;
  if (!isIPv6(address)) return address;
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}
