import { createTrust as createAddressTrust } from '@tollgate/http/caller-address';

/** Whether the other end of a connection is a proxy that may speak for those before it. */
export type TrustsPeer = (socket: { remoteAddress?: string | undefined }) => boolean;

/** Of the addresses and CIDR networks of a setting. Looked up once for each connection. */
export function createTrust(networks: readonly string[]): TrustsPeer {
  if (networks.length === 0) return () => false;
  const trusts = createAddressTrust(networks);
  const known = new WeakMap<object, boolean>();
  return (socket) => {
    const before = known.get(socket);
    if (before !== undefined) return before;
    const trusted = trusts(socket.remoteAddress ?? '');
    known.set(socket, trusted);
    return trusted;
  };
}
