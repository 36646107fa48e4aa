import { eachPart } from '../cost/processes.ts';
import type { CpuUs } from '../cost/processes.ts';

/** Per call. */
export type CallScripts = { admissions: number; settlements: number };

/** CPU-µs: of each call whatever it shares with others, and of each script or hourly row. */
export type CallCosts = { call: CpuUs; admission: CpuUs; settlement: CpuUs; hourlyRow: CpuUs };

type ScriptState = { cpu: CpuUs; scripts: CallScripts };

/**
 * Measured states, in the lanes of a Redis Cluster: one account's calls share scripts, those of many don't share
 * settlements, and without shares of limits (docs/design/admission.md) not admissions either.
 */
export type ScriptStates = { together: ScriptState; apart: ScriptState; withoutShares: ScriptState };

/** What explains all three states, per part of the system. Never negative. */
export function scriptCosts({ together, apart, withoutShares }: ScriptStates): Omit<CallCosts, 'hourlyRow'> {
  const [few, more, most] = [together.scripts, apart.scripts, withoutShares.scripts];
  const moreOf = (kind: keyof CallScripts) => more[kind] - few[kind];
  const mostOf = (kind: keyof CallScripts) => most[kind] - few[kind];
  // Cramer's rule, for the prices of an admission and of a settlement.
  const determinant =
    moreOf('admissions') * mostOf('settlements') - moreOf('settlements') * mostOf('admissions');
  const solved = (part: keyof CpuUs) => {
    const toMore = apart.cpu[part] - together.cpu[part];
    const toMost = withoutShares.cpu[part] - together.cpu[part];
    return {
      admission: (toMore * mostOf('settlements') - toMost * moreOf('settlements')) / determinant,
      settlement: (toMost * moreOf('admissions') - toMore * mostOf('admissions')) / determinant,
    };
  };
  const admission = eachPart((part) => Math.max(0, solved(part).admission));
  const settlement = eachPart((part) => Math.max(0, solved(part).settlement));
  const call = eachPart((part) =>
    Math.max(0, together.cpu[part] - admission[part] * few.admissions - settlement[part] * few.settlements),
  );
  return { call, admission, settlement };
}

export type RowState = { cpu: CpuUs; hourlyRowsPerCall: number };

/** A straight line through two states, of which the second shared least. Never negative. */
export function rowCosts(together: RowState, apart: RowState): Pick<CallCosts, 'call' | 'hourlyRow'> {
  const rows = apart.hourlyRowsPerCall - together.hourlyRowsPerCall;
  const hourlyRow = eachPart((part) => Math.max(0, (apart.cpu[part] - together.cpu[part]) / rows));
  const call = eachPart((part) =>
    Math.max(0, together.cpu[part] - hourlyRow[part] * together.hourlyRowsPerCall),
  );
  return { call, hourlyRow };
}
