import type { CpuUs, SystemPart } from '../cost/processes.ts';

/** How far a measured state's calls shared work. */
export type Sharing = {
  /** Admission and settlement scripts. */
  scriptsPerCall: number;
  hourlyRowsPerCall: number;
};

export type MeasuredState = { cpu: CpuUs; sharing: Sharing };

/** CPU-µs: of each call whatever it shares, and of each script or hourly row. */
export type CallCosts = { call: CpuUs; script: CpuUs; hourlyRow: CpuUs };

/** What a part's work per call grows with, besides the calls: auth has none with a call (tokens are its work). */
const GROWS_WITH: Readonly<Record<SystemPart, keyof Sharing | null>> = {
  gateway: 'scriptsPerCall',
  auth: null,
  account: 'hourlyRowsPerCall',
  Redis: 'scriptsPerCall',
  Postgres: 'hourlyRowsPerCall',
};

/** From two states, of which `apart` shared least: a straight line through both. Never negative. */
export function callCosts(together: MeasuredState, apart: MeasuredState): CallCosts {
  const costs: CallCosts = { call: nothing(), script: nothing(), hourlyRow: nothing() };
  for (const part of Object.keys(GROWS_WITH) as SystemPart[]) {
    const driver = GROWS_WITH[part];
    if (driver === null) {
      costs.call[part] = Math.min(together.cpu[part], apart.cpu[part]);
      continue;
    }
    const [least, most] = [together.sharing[driver], apart.sharing[driver]];
    const perUnit = Math.max(0, (apart.cpu[part] - together.cpu[part]) / (most - least));
    costs[driver === 'scriptsPerCall' ? 'script' : 'hourlyRow'][part] = perUnit;
    costs.call[part] = Math.max(0, together.cpu[part] - perUnit * least);
  }
  return costs;
}

function nothing(): CpuUs {
  return { gateway: 0, auth: 0, account: 0, Redis: 0, Postgres: 0 };
}
