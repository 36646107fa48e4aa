import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { CallStates, Costs } from '../cost/costs.ts';
import { eachPart } from '../cost/processes.ts';
import type { CpuUs } from '../cost/processes.ts';
import type { ManyGatewaysFigures } from '../gateway/many-gateways.ts';
import type { Goal, PartResult } from '../part.ts';
import { grouped, percent } from '../report/ratios.ts';
import { asWritten } from '../report/results.ts';
import { writeCapacityPage } from './page.ts';
import type { Changed, Simulated } from './page.ts';
import { CHANGED_CALLS_PER_SEC, CHANGES, PARAMETERS, SIMULATED_CALLS_PER_SEC } from './parameters.ts';
import { planFor } from './plan.ts';
import type { Plan, UnitCosts } from './plan.ts';
import { rowCosts, scriptCosts } from './unit-costs.ts';
import type { ScriptCosts } from './unit-costs.ts';

/** Without servers: plans with what the part cost has measured, and writes the tables of docs/capacity.md. */
export async function simulateCapacity(project: string, say: (line: string) => void): Promise<PartResult> {
  const costs = measuredCosts(join(project, 'bench/results.json'));
  const plan = async (callsPerSec: number, change = {}): Promise<Plan> => {
    // Lets a signal through.
    await setImmediate();
    const made = planFor(callsPerSec, { ...PARAMETERS, ...change }, costs);
    say(`simulate: ${lineOf(made)}`);
    return made;
  };
  const plans: Plan[] = [];
  for (const callsPerSec of SIMULATED_CALLS_PER_SEC) plans.push(await plan(callsPerSec));
  const changes: Simulated['changes'] = [];
  for (const unchanged of plans) {
    const callsPerSec = unchanged.plannedCallsPerSec;
    if (!CHANGED_CALLS_PER_SEC.has(callsPerSec)) continue;
    const made: Changed[] = [{ what: 'as configured', plan: unchanged }];
    for (const [what, change] of CHANGES) made.push({ what, plan: await plan(callsPerSec, change) });
    changes.push({ callsPerSec, plans: made });
  }
  const simulated: Simulated = asWritten({ costs, parameters: PARAMETERS, plans, changes });
  writeCapacityPage(join(project, 'docs/capacity.md'), simulated);
  return {
    goals: plans.flatMap((made) => (made.plannedCallsPerSec === GOALS_AT ? goalsOf(made) : [])),
    notes: [...plans.map(lineOf), 'the tables of docs/capacity.md are written from this'],
    figures: simulated,
  };
}

/** Calls a second at which there are goals. */
const GOALS_AT = 100_000;
const MOST = { gatewayPods: 10, accountPods: 2, postgresCores: 4, redisShards: 6 } as const;

function goalsOf(plan: Plan): Goal[] {
  const goal = (what: string, name: keyof typeof MOST): Goal => ({
    what: `${what} for ${grouped(GOALS_AT)} calls/s`,
    figure: String(plan[name]),
    target: `≤ ${String(MOST[name])}`,
    reached: plan[name] <= MOST[name],
  });
  return [
    goal('gateway pods', 'gatewayPods'),
    goal('account pods', 'accountPods'),
    goal('Postgres cores', 'postgresCores'),
    goal('Redis shards', 'redisShards'),
  ];
}

type CostFigures = { costs: Costs; states: CallStates };
/** `again`: calls of payers that call so rarely that each is a row of its own. */
type CountingFigures = { again: CpuUs };

/** @throws {Error} if the part cost, counting or many-gateways was never run */
export function measuredCosts(resultsFile: string): UnitCosts {
  const { parts } = JSON.parse(readFileSync(resultsFile, 'utf8')) as {
    parts: { name: string; figures: unknown }[];
  };
  const figuresOf = (name: string) => {
    const run = parts.find((part) => part.name === name);
    if (run === undefined) throw new Error(`the part ${name} was never run`);
    return run.figures;
  };
  const { costs, states } = figuresOf('cost') as CostFigures;
  const { again } = figuresOf('counting') as CountingFigures;
  const ofGateway = scriptCosts(states.gateway);
  // Settling for many gateways is another thing than for one; an admission is the same.
  const { costs: settling } = figuresOf('many-gateways') as ManyGatewaysFigures;
  const ofRedis: ScriptCosts = { ...scriptCosts(states.Redis), ...settling };
  const perRow = rowCosts(states.rows, { cpu: again, hourlyRowsPerCall: 1 });
  // A gateway and Redis work for a call and its scripts; account and Postgres for it and its rows.
  const nothing = eachPart(() => 0);
  const ofScripts = (what: keyof ScriptCosts): CpuUs => ({
    ...nothing,
    gateway: ofGateway[what],
    Redis: ofRedis[what],
  });
  const ofRows = ({ account, Postgres }: CpuUs) => ({ account, Postgres });
  return {
    ...costs,
    call: { ...ofScripts('call'), ...ofRows(perRow.call), auth: states.rows.cpu.auth },
    admission: ofScripts('admission'),
    settlement: ofScripts('settlement'),
    settledPayer: ofScripts('settledPayer'),
    hourlyRow: { ...nothing, ...ofRows(perRow.hourlyRow) },
  };
}

function lineOf({ plannedCallsPerSec, ceilings, ...plan }: Plan): string {
  const [first] = ceilings;
  return (
    `${String(plannedCallsPerSec)} calls/s: ${String(plan.gatewayPods)} gateway, ${String(plan.authPods)} auth and ` +
    `${String(plan.accountPods)} account pods, ${String(plan.redisShards)} Redis shards, ` +
    `${String(plan.postgresCores)} Postgres cores; reached first: ${first?.what ?? ''} (${percent(first?.used ?? 0)})`
  );
}
