import { BlockList, isIPv6 } from 'node:net';

/** Whether the other end of a connection is a proxy that may speak for those before it. */
export type TrustsPeer = (socket: { remoteAddress?: string | undefined }) => boolean;

/** Of the addresses and CIDR networks of a setting. Looked up once for each connection. */
export function createTrust(networks: readonly string[]): TrustsPeer {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  const known = new WeakMap<object, boolean>();
  return (socket) => {
    const before = known.get(socket);
    if (before !== undefined) return before;
    const address = socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/i, '') ?? '';
    const trusted = address !== '' && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
    known.set(socket, trusted);
    return trusted;
  };
}
