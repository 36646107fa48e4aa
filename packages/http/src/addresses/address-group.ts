import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { canonicalAddress } from './canonical-address.ts';

/** An IPv6 address becomes its /64, as one caller has all of it, and each address would be a fresh count. */
export function addressGroup(text: string): string {
  return addressNetworks(text)[0].network;
}

/** A network that an address belongs to, and how many times a single caller's bound holds for all of it. */
export type AddressNetwork = { network: string; share: number };

/**
 * An address' group, and for IPv6 the wider networks that one customer may have been given (RFC 6177: /56 and /48 for
 * a site), so that moving on to the next /64 isn't a fresh caller.
 */
export function addressNetworks(text: string): readonly [AddressNetwork, ...AddressNetwork[]] {
  const address = canonicalAddress(text) ?? text;
  if (!isIPv6(address)) return [{ network: address, share: 1 }];
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv6.parse(address).parts;
  return [
    { network: prefix([a, b, c, d], 64), share: 1 },
    { network: prefix([a, b, c, d & 0xff00], 56), share: 2 },
    { network: prefix([a, b, c], 48), share: 3 },
  ];
}

function prefix(parts: readonly number[], bits: number): string {
  return `${parts.map((part) => part.toString(16)).join(':')}::/${String(bits)}`;
}
