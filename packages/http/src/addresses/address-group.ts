import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { canonicalAddress } from './canonical-address.ts';

/** An IPv6 address becomes its /64, as one caller has all of it, and each address would be a fresh count. */
export function addressGroup(text: string): string {
  const address = canonicalAddress(text) ?? text;
  if (!isIPv6(address)) return address;
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}
