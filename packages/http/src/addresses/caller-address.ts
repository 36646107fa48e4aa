import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { canonicalAddress } from './canonical-address.ts';
import { forwardedFieldsOf, forwardedHops } from './forwarded-hops.ts';
import type { ForwardedFields } from './forwarded-hops.ts';

/** Whether an address, in any form, is that of a proxy that may speak for the hops before it. */
export type TrustsAddress = (address: string | undefined) => boolean;

/** Bounds the memory of lookups: proxies are few, but every caller's address is looked up. */
const MAX_KNOWN = 1_000;

export function createTrust(networks: readonly string[]): TrustsAddress {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  const known = new Map<string, boolean>();
  return (text) => {
    const address = canonicalAddress(text ?? '');
    if (address === undefined) return false;
    let trusted = known.get(address);
    if (trusted === undefined) {
      if (known.size === MAX_KNOWN) known.clear();
      trusted = list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
      known.set(address, trusted);
    }
    return trusted;
  };
}

/**
 * Where a request came from: the nearest hop that is no trusted proxy. If a trusted proxy names no readable hop
 * before it, its own address: never a text that each request could change. Empty if the caller has gone.
 */
export function callerAddress(
  { remoteAddress = '', ...fields }: ForwardedFields & { remoteAddress: string | undefined },
  trusts: TrustsAddress,
): string {
  let address = canonicalAddress(remoteAddress) ?? '';
  if (!trusts(address)) return address;
  const hops = forwardedHops(fields);
  do {
    const earlier = hops.pop();
    if (earlier === undefined) break;
    address = earlier;
  } while (trusts(address));
  return address;
}

export function callerAddressOf(
  { rawHeaders, socket: { remoteAddress } }: Pick<IncomingMessage, 'rawHeaders' | 'socket'>,
  trusts: TrustsAddress,
): string {
  return callerAddress({ remoteAddress, ...forwardedFieldsOf(rawHeaders) }, trusts);
}
