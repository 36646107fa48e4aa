import { createAddressChoice } from '../../pipeline/forward/upstream/address-choice.ts';
import { createAddressHealth } from '../../pipeline/forward/upstream/ejection.ts';
import type { EjectionRules } from '../../pipeline/forward/upstream/ejection.ts';
import type { FailureKind, UpstreamObserver } from '../../pipeline/forward/upstream/metrics.ts';

/** How a connection ended: by a failure, by the upstream (`answered`: HTTP or a close), or by the gateway (`left`). */
export type ConnectionEnd = FailureKind | 'answered' | 'left';

export type ChosenAddress = {
  url: string;
  isOnly: boolean;
  succeeded: () => void;
  /** To be called once, however the connection ended. */
  ended: (how: ConnectionEnd) => void;
};

/** Chooses an address for a connection; for a second attempt another one than `failed`, if there is one. */
export type ChooseAddress = (failed: ChosenAddress | null) => ChosenAddress;

/**
 * Like those for calls (docs/design/forwarding.md), with health of their own: a server may answer calls and accept no
 * sockets.
 */
export function createUpstreamAddresses(
  urls: readonly string[],
  rules: EjectionRules,
  observer: Pick<UpstreamObserver, 'address' | 'watch'>,
): ChooseAddress {
  const addresses = urls.map((url) => {
    const { origin } = new URL(url);
    const { onFailure, onEjected } = observer.address(origin);
    return { url, origin, onFailure, inFlight: 0, health: createAddressHealth(rules, onEjected) };
  });
  observer.watch(addresses);
  const choose = createAddressChoice(addresses);
  const addressOf = new WeakMap<ChosenAddress, (typeof addresses)[number]>();
  return (failed) => {
    const address = choose((failed === null ? undefined : addressOf.get(failed)) ?? null);
    const { url, health, onFailure } = address;
    const isTrial = health.beginCall();
    let decided = false;
    address.inFlight += 1;
    const chosen: ChosenAddress = {
      url,
      isOnly: addresses.length === 1,
      succeeded: () => {
        decided = true;
        health.succeeded();
      },
      ended: (how) => {
        address.inFlight -= 1;
        const isFailure = how !== 'answered' && how !== 'left';
        if (isFailure) onFailure(how);
        if (decided) return;
        if (isFailure) health.failed(isTrial);
        else if (how === 'answered') health.succeeded();
        else if (isTrial) health.trialUndecided();
      },
    };
    addressOf.set(chosen, address);
    return chosen;
  };
}
