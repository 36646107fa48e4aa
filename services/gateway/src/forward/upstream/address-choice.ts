import type { AddressHealth } from './ejection.ts';

type Choosable = { inFlight: number; health: Pick<AddressHealth, 'state'> };

/**
 * Chooses among addresses of the upstream; for a second attempt another one than `tried`, if there is any. The
 * one with the fewest in flight is taken, in turns where that is equal. An ejected address whose time is over
 * gets one as a trial. Where all are ejected, all are tried: an outage of everything must end as soon as
 * anything is back (ADR 0023).
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
    // A second attempt is no trial: what it is for is an answer.
    const due = tried === null ? addresses.find(({ health }) => health.state() === 'due') : undefined;
    return due ?? leastBusy(tried, true) ?? leastBusy(tried, false);
  }

  return (tried) => {
    const address = addresses.length === 1 ? only : choiceOf(tried);
    if (address === undefined) throw new Error('the upstream has no address');
    return address;
  };
}
