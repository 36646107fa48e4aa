import { readFileSync, writeFileSync } from 'node:fs';
import { SYSTEM_PARTS } from '../cost/processes.ts';
import type { CpuUs } from '../cost/processes.ts';
import { grouped, percent, whole } from '../report/ratios.ts';
import { table } from '../report/table.ts';
import type { Parameters } from './parameters.ts';
import type { Plan, UnitCosts } from './plan.ts';

export type Changed = { what: string; plan: Plan };

/** As results.json has them. */
export type Simulated = {
  costs: UnitCosts;
  parameters: Parameters;
  plans: Plan[];
  changes: { callsPerSec: number; plans: Changed[] }[];
};

const [BEGIN, END] = ['<!-- written by npm run bench -- simulate -->', '<!-- end -->'];

/** Replaces only what is between the two marks of docs/capacity.md. */
export function writeCapacityPage(file: string, simulated: Simulated): void {
  writeFileSync(file, withTables(readFileSync(file, 'utf8'), simulated));
}

/** @throws {Error} if a mark is missing */
export function withTables(page: string, simulated: Simulated): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`the page has no ${BEGIN} … ${END}`);
  const { costs, parameters, plans, changes } = simulated;
  const written = [
    assumptions(parameters),
    costTable(costs),
    `A live token takes ${costs.tokenBytes.toFixed(0)} bytes in Redis, an application's hour of usage ${costs.hourlyRowBytes.toFixed(0)} bytes in Postgres.`,
    table([['calls/s', ...plans.map(rateOf)], ...ROWS.map(([what, cell]) => [what, ...plans.map(cell)])]),
    'How near each is to what no further machine relieves; 100 % is a core that is as busy as planned:',
    ceilingTable(plans),
    ...changes.flatMap((changed) => [
      `What one change alone does at ${grouped(changed.callsPerSec)} calls/s:`,
      changeTable(changed.plans),
    ]),
  ];
  return `${page.slice(0, begin + BEGIN.length)}\n\n${written.join('\n\n')}\n\n${page.slice(end)}`;
}

function assumptions(parameters: Parameters): string {
  const { accounts, applicationsPerAccount, zipfExponent, cacheTtlSec, leasedAdmission } = parameters;
  const admission =
    leasedAdmission === null
      ? 'every call is admitted by a script, which calls of one turn share'
      : `a payer with ${grouped(leasedAdmission.fromCalls)} calls at a gateway is admitted there once in ${grouped(leasedAdmission.intervalMs)} ms`;
  return [
    `Simulated: ${grouped(accounts)} accounts with ${String(applicationsPerAccount)} applications each; the load of the n-th largest is 1/n^${String(zipfExponent)} of the largest one's.`,
    balancingOf(parameters),
    `A gateway caches ${grouped(parameters.introspectionCacheEntries)} introspections and ${grouped(parameters.entitlementCacheEntries)} entitlements for ${String(cacheTtlSec)} s; ${admission}; a batch of usage takes ${String(parameters.settlementMs)} ms to be recorded.`,
    `account writes each hourly row once per step of ${String(parameters.readerStepMs)} ms.`,
  ].join(' ');
}

function balancingOf({ balancing, gatewayLoadAtMost, callMs }: Parameters): string {
  if (balancing === 'random') return 'Calls go to any gateway.';
  if (gatewayLoadAtMost === null) return 'All calls with a token go to the same gateway.';
  return `Calls with a token go to the same gateway, unless it has more than ${String(gatewayLoadAtMost)} times the mean of calls under way; a call takes ${String(callMs)} ms.`;
}

function costTable(costs: UnitCosts): string {
  const works: [string, CpuUs][] = [
    ['a data call by itself', costs.call],
    ['an admission script', costs.admission],
    ['a settlement script', costs.settlement],
    ['a payer in one', costs.settledPayer],
    ['an hourly row written', costs.hourlyRow],
    ['a token', costs.token],
    ['an introspection', costs.introspection],
    ['an entitlement read in Redis', costs.keptEntitlement],
    ['an entitlement asked of account', costs.entitlement],
    ['a second idle', costs.idle],
  ];
  return table([
    ['CPU-µs of', ...SYSTEM_PARTS],
    ...works.map(([what, cpu]) => [what, ...SYSTEM_PARTS.map((part) => cpu[part].toFixed(1))]),
  ]);
}

const ROWS: readonly [string, (plan: Plan) => string][] = [
  ['of these, of the busiest account', (plan) => whole(plan.busiestPayerPerSec)],
  ['tokens/s', (plan) => whole(plan.tokensPerSec)],
  ['introspections/s', (plan) => withShare(plan.introspectionsPerSec, plan)],
  ['entitlements read in Redis/s', (plan) => withShare(plan.keptEntitlementsPerSec, plan)],
  ['entitlements asked of account/s', (plan) => withShare(plan.askedEntitlementsPerSec, plan)],
  ['admission scripts per call', (plan) => plan.admissionScriptsPerCall.toFixed(2)],
  ['settlement scripts per call', (plan) => plan.settlementScriptsPerCall.toFixed(2)],
  ['payers in these per call', (plan) => plan.settledPayersPerCall.toFixed(2)],
  ['hourly rows written per call', (plan) => plan.hourlyRowsPerCall.toFixed(2)],
  ['**gateway pods** of 1 core', (plan) => whole(plan.gatewayPods)],
  ['the busiest of them, of its core', (plan) => percent(plan.busiestGateway)],
  ['**auth pods** of 1 core', (plan) => whole(plan.authPods)],
  ['**account pods** of 1 core', (plan) => whole(plan.accountPods)],
  ['**Redis shards** (masters)', (plan) => whole(plan.redisShards)],
  ['the busiest of them, of its core', (plan) => percent(plan.busiestShard)],
  ['the busiest account, of a Redis core', (plan) => percent(plan.busiestPayer)],
  ['Redis memory for tokens and entitlements', (plan) => `${whole(plan.redisMib)} MiB`],
  ['**Postgres cores**', (plan) => whole(plan.postgresCores)],
  ['Postgres, hourly usage a month, at most', (plan) => `${whole(plan.postgresGibPerMonth)} GiB`],
  ['**reached first**', (plan) => plan.ceilings[0]?.what ?? ''],
];

function ceilingTable(plans: readonly Plan[]): string {
  const names = plans.at(-1)?.ceilings.map(({ what }) => what) ?? [];
  const used = (plan: Plan, name: string) =>
    percent(plan.ceilings.find(({ what }) => what === name)?.used ?? 0);
  return table([
    ['calls/s', ...plans.map(rateOf)],
    ...names.map((name) => [name, ...plans.map((plan) => used(plan, name))]),
  ]);
}

function changeTable(changes: readonly Changed[]): string {
  return table([
    ['', 'gateway pods', 'auth pods', 'account pods', 'Redis shards', 'Postgres cores', 'reached first'],
    ...changes.map(({ what, plan }) => [
      what,
      ...[plan.gatewayPods, plan.authPods, plan.accountPods, plan.redisShards, plan.postgresCores].map(whole),
      `${plan.ceilings[0]?.what ?? ''}: ${percent(plan.ceilings[0]?.used ?? 0)}`,
    ]),
  ]);
}

/** The simulated rate is this one but for chance. */
function rateOf({ plannedCallsPerSec }: Plan): string {
  return grouped(plannedCallsPerSec);
}

function withShare(perSec: number, { callsPerSec }: Plan): string {
  return `${whole(perSec)} (${((100 * perSec) / callsPerSec).toFixed(1)} % of calls)`;
}
