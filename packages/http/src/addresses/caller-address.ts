import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { canonicalAddress } from './canonical-address.ts';
import { forwardedHops } from './forwarded-hops.ts';
import type { ForwardedFields } from './forwarded-hops.ts';

/** Whether an address is a proxy's that may speak for those before it. */
export type TrustsAddress = (address: string) => boolean;

/** Of the addresses and CIDR networks of a setting. Takes addresses in any form. */
export function createTrust(networks: readonly string[]): TrustsAddress {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return (text) => {
    const address = canonicalAddress(text);
    return address !== undefined && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  };
}

/**
 * Where a request came from: the nearest hop that is no trusted proxy, as far as trusted ones say so. Where they
 * name nothing that can be read, it is the last proxy that is known: never a text that each request could change.
 * Empty where the caller is gone by now.
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

/** callerAddress of a request as Node.js has parsed it. */
export function callerAddressOf(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  trusts: TrustsAddress,
): string {
  const fields = { forwardedFor: joined(headers['x-forwarded-for']), forwarded: joined(headers.forwarded) };
  return callerAddress({ remoteAddress: socket.remoteAddress, ...fields }, trusts);
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value;
}
