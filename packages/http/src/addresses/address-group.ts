import { canonicalAddress } from './canonical-address.ts';

/**
 * An IPv4 address as it is, an IPv6 address as its /64: whoever has one IPv6 address has all of its network,
 * and would otherwise get a fresh count with each.
 */
export function addressGroup(address: string): string {
  const ip = canonicalAddress(address);
  if (ip?.includes(':') !== true) return ip ?? address;
  const [head = '', tail] = ip.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const missing = 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
    for (let zeros = 0; zeros < missing; zeros += 1) groups.push('0');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}
