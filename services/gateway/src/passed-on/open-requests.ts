import { addressNetworks } from '@tollgate/http/address-group';

export type OpenRequests = {
  /** Counts a request until the returned function is called (once); null if its network has too many. */
  enter: (address: string) => (() => void) | null;
};

/** Bounds the requests that are open at one time, from their head to the end of their answer, for each network. */
export function createOpenRequests(maxPerAddress: number): OpenRequests {
  const open = new Map<string, number>();
  const countOf = (network: string) => open.get(network) ?? 0;

  function leave(network: string): void {
    const left = countOf(network) - 1;
    if (left > 0) open.set(network, left);
    else open.delete(network);
  }

  return {
    enter: (address) => {
      const networks = addressNetworks(address);
      if (networks.some(({ network, share }) => countOf(network) >= maxPerAddress * share)) return null;
      for (const { network } of networks) open.set(network, countOf(network) + 1);
      return () => {
        for (const { network } of networks) leave(network);
      };
    },
  };
}
