import { eachPart } from '../cost/processes.ts';
import type { CpuUs } from '../cost/processes.ts';
import { solve } from './solve.ts';

/** Per call. `settledPayers`: of each batch, the payers whose usage it has. */
export type CallScripts = { admissions: number; settlements: number; settledPayers: number };

/** CPU-µs: of each call whatever it shares with others, of each script, and of each payer in a settlement. */
export type ScriptCosts = { call: number; admission: number; settlement: number; settledPayer: number };

/** The same for each part of the system, and of each hourly row. */
export type CallCosts = Record<keyof ScriptCosts | 'hourlyRow', CpuUs>;

/** CPU-µs of a call, and what it took. */
export type ScriptState = { cpuUs: number; scripts: CallScripts };

/**
 * Measured states: calls of one payer share scripts; others share no settlements, or those with other payers; without
 * shares of limits (docs/design/admission.md) they don't share admissions either.
 */
export type ScriptStates = Record<'together' | 'apart' | 'ofManyPayers' | 'withoutShares', ScriptState>;

/** What explains all four states. Never negative. */
export function scriptCosts(states: ScriptStates): ScriptCosts {
  const equations = Object.values(states).map(({ cpuUs, scripts }) => ({
    factors: [1, scripts.admissions, scripts.settlements, scripts.settledPayers],
    sum: cpuUs,
  }));
  const [call = 0, admission = 0, settlement = 0, settledPayer = 0] = solve(equations).map((us) =>
    Math.max(0, us),
  );
  return { call, admission, settlement, settledPayer };
}

export type SettlementCosts = Omit<ScriptCosts, 'admission'>;

/** As above, of calls that are only settled. */
export type SettledStates = Omit<ScriptStates, 'withoutShares'>;

/** What explains all three states. Never negative. */
export function settlementCosts(states: SettledStates): SettlementCosts {
  const equations = Object.values(states).map(({ cpuUs, scripts }) => ({
    factors: [1, scripts.settlements, scripts.settledPayers],
    sum: cpuUs,
  }));
  const [call = 0, settlement = 0, settledPayer = 0] = solve(equations).map((us) => Math.max(0, us));
  return { call, settlement, settledPayer };
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
