export type EjectionRules = {
  /** So many failures in a row take an address out. */
  afterFailures: number;
  /** How long the first time; each further time twice as long as the last. */
  minMs: number;
  maxMs: number;
};

/** Whether an address gets calls: all of them, one to try it out, or none for the moment. */
type HealthState = 'healthy' | 'due' | 'ejected';

export type AddressHealth = {
  state: () => HealthState;
  /** Told that a call goes there. True where it is the trial: there is no second one until it ends. */
  beginCall: () => boolean;
  /** An answer's head has come. */
  succeeded: () => void;
  /** It could not be connected to, lost the connection before it answered, or was silent. */
  failed: (wasTrial: boolean) => void;
  /** The trial ended without saying anything about the address: its caller went away. */
  trialUndecided: () => void;
};

/**
 * What the calls to one address say of it: passive ejection for a growing, bounded time, and a way back by one
 * trial call (ADR 0023). The time doubles with each ejection until the address has been well for `maxMs`.
 */
export function createAddressHealth(
  rules: EjectionRules,
  onEjected: () => void,
  now: () => number = () => performance.now(),
): AddressHealth {
  let failuresInARow = 0;
  let ejections = 0;
  let ejectedUntilMs: number | null = null;
  let wellSinceMs = -Infinity;
  let trial = false;

  function eject(): void {
    if (ejectedUntilMs === null && now() - wellSinceMs >= rules.maxMs) ejections = 0;
    const lengthMs = Math.min(rules.minMs * 2 ** Math.min(ejections, 30), rules.maxMs);
    ejections += 1;
    ejectedUntilMs = now() + lengthMs;
    trial = false;
    failuresInARow = 0;
    onEjected();
  }

  function state(): HealthState {
    if (ejectedUntilMs === null) return 'healthy';
    return !trial && now() >= ejectedUntilMs ? 'due' : 'ejected';
  }

  return {
    state,
    beginCall: () => {
      if (state() !== 'due') return false;
      trial = true;
      return true;
    },
    succeeded: () => {
      failuresInARow = 0;
      if (ejectedUntilMs === null) return;
      ejectedUntilMs = null;
      trial = false;
      wellSinceMs = now();
    },
    failed: (wasTrial) => {
      // Calls from before the ejection, and those that had nowhere else to go, don't make it longer.
      if (ejectedUntilMs !== null) {
        if (wasTrial) eject();
        return;
      }
      failuresInARow += 1;
      if (failuresInARow >= rules.afterFailures) eject();
    },
    trialUndecided: () => {
      trial = false;
    },
  };
}
