import { createAddressChoice } from '../../forward/upstream/address-choice.ts';
import { createAddressHealth } from '../../forward/upstream/ejection.ts';
import type { EjectionRules } from '../../forward/upstream/ejection.ts';
import type { FailureKind, UpstreamObserver } from '../../forward/upstream/upstream-metrics.ts';

/** How a connection to an address ended: a failure of its own, by its word (HTTP or a close), or by this side's. */
export type ConnectionEnd = FailureKind | 'answered' | 'left';

/** A connection to one address, as far as it says something about the address. */
export type AddressVisit = {
  url: string;
  /** The upstream has no other address. */
  isOnly: boolean;
  /** The address acknowledged connection_init. */
  succeeded: () => void;
  /** It is over. To be called once, however it ended. */
  ended: (how: ConnectionEnd) => void;
};

/** An address for a connection; for a second attempt another one than that of `failed`, if there is any. */
export type VisitUpstream = (failed: AddressVisit | null) => AddressVisit;

/**
 * The upstream's addresses for WebSockets: chosen and ejected as those for calls are (ADR 0023), each by its own
 * failures, since a server may answer calls and take no sockets. Until connection_init is acknowledged a failure
 * counts; what happens after that is in the metrics.
 */
export function createUpstreamAddresses(
  urls: readonly string[],
  rules: EjectionRules,
  observer: Pick<UpstreamObserver, 'address' | 'watch'>,
): VisitUpstream {
  const addresses = urls.map((url) => {
    const { origin } = new URL(url);
    const { onFailure, onEjected } = observer.address(origin);
    return { url, origin, onFailure, inFlight: 0, health: createAddressHealth(rules, onEjected) };
  });
  observer.watch(addresses);
  const choose = createAddressChoice(addresses);
  const visited = new WeakMap<AddressVisit, (typeof addresses)[number]>();
  return (failed) => {
    const address = choose((failed === null ? undefined : visited.get(failed)) ?? null);
    const { url, health, onFailure } = address;
    const isTrial = health.beginCall();
    let decided = false;
    address.inFlight += 1;
    const visit: AddressVisit = {
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
    visited.set(visit, address);
    return visit;
  };
}
