import type { Config } from '../../../config.ts';

export type EjectionRules = {
  /** In a row. */
  afterFailures: number;
  /** The first time; doubled each further time. */
  minMs: number;
  maxMs: number;
};

/** Whether an address gets calls, one trial call, or none. */
type HealthState = 'healthy' | 'due' | 'ejected';

export type AddressHealth = {
  state: () => HealthState;
  /** Returns whether the call is the trial; there is one at a time. */
  beginCall: () => boolean;
  /** A response's head has arrived. */
  succeeded: () => void;
  /** No connection, a connection lost before the response, or silence. */
  failed: (wasTrial: boolean) => void;
  /** The trial's caller has gone. */
  trialUndecided: () => void;
};

/**
 * Passive ejection of one address, for a time that doubles until the address has been healthy for `maxMs`, and a way
 * back by one trial call (docs/design/forwarding.md).
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
      // Only the trial prolongs an ejection, not calls that were under way.
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

export function ejectionRules(config: Config): EjectionRules {
  return {
    afterFailures: config.UPSTREAM_EJECTION_FAILURES,
    minMs: config.UPSTREAM_EJECTION_MIN_MS,
    maxMs: config.UPSTREAM_EJECTION_MAX_MS,
  };
}
