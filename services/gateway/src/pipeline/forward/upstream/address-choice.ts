import type { AddressHealth } from './ejection.ts';

type Choosable = { inFlight: number; health: Pick<AddressHealth, 'state'> };

/**
 * Chooses the healthy address with the fewest calls in flight, in rotation among equals, and not `tried` if there is
 * another. An address due for its trial comes first. If all are ejected, all get calls, so that an outage ends as
 * soon as one is back (docs/design/forwarding.md).
 */
export function createAddressChoice<A extends Choosable>(
  addresses: readonly A[],
): (tried: Choosable | null) => A {
  const [only] = addresses;
  let turn = 0;

  function leastBusy(tried: Choosable | null, healthyOnly: boolean): A | undefined {
    let best: A | undefined;
    for (let index = 0; index < addresses.length; index += 1) {
      const address = addresses[(turn + index) % addresses.length];
      if (address === undefined || address === tried) continue;
      if (healthyOnly && address.health.state() !== 'healthy') continue;
      if (best === undefined || address.inFlight < best.inFlight) best = address;
    }
    return best;
  }

  function choiceOf(tried: Choosable | null): A | undefined {
    turn = (turn + 1) % addresses.length;
    // A second attempt needs a response too much to be a trial.
    const due = tried === null ? addresses.find(({ health }) => health.state() === 'due') : undefined;
    return due ?? leastBusy(tried, true) ?? leastBusy(tried, false);
  }

  return (tried) => {
    const address = addresses.length === 1 ? only : choiceOf(tried);
    if (address === undefined) throw new Error('the upstream has no address');
    return address;
  };
}
