import type { Costs } from '../cost/costs.ts';
import { eachPart } from '../cost/processes.ts';
import type { CpuUs, SystemPart } from '../cost/processes.ts';
import type { Parameters } from './parameters.ts';
import { simulate } from './simulate.ts';
import type { CallWork, Observed } from './simulate.ts';
import type { CallCosts } from './unit-costs.ts';

export type UnitCosts = CallCosts & Costs;

/** What more machines don't relieve. `used`: 1 when a core of it is as busy as it may be. */
type Ceiling = { what: string; used: number };

export type Plan = {
  plannedCallsPerSec: number;
  /** Simulated: the plan's, but for chance. */
  callsPerSec: number;
  tokensPerSec: number;
  introspectionsPerSec: number;
  keptEntitlementsPerSec: number;
  askedEntitlementsPerSec: number;
  admissionScriptsPerCall: number;
  settlementScriptsPerCall: number;
  settledPayersPerCall: number;
  hourlyRowsPerCall: number;
  busiestPayerPerSec: number;
  gatewayPods: number;
  /** Of a core. */
  busiestGateway: number;
  authPods: number;
  accountPods: number;
  /** Masters of a Redis Cluster, with one core each. */
  redisShards: number;
  /** Of a core. */
  busiestShard: number;
  busiestPayer: number;
  postgresCores: number;
  redisMib: number;
  /** Hourly usage, if every application calls in every hour. */
  postgresGibPerMonth: number;
  /** The one that is reached first comes first. */
  ceilings: Ceiling[];
};

const CORE_US = 1_000_000;
const HOURS_PER_MONTH = 30 * 24;
const [MIB, GIB] = [2 ** 20, 2 ** 30];
const ROUNDS = 6;

/** Caches aren't shared, so that the number of gateways changes what each does: it is found in a few rough rounds. */
export function planFor(callsPerSec: number, parameters: Parameters, costs: UnitCosts): Plan {
  const { podsAtLeast, simulatedCalls } = parameters;
  const rough = { ...parameters, simulatedCalls: Math.ceil(simulatedCalls / 5) };
  const gatewaysFor = (observed: Observed) =>
    podsFor(workOf(observed, parameters, costs).gateway, 'gateway', parameters, costs);
  let gateways = podsAtLeast;
  for (let round = 0; round < ROUNDS; round += 1) {
    const needed = gatewaysFor(simulate(rough, { callsPerSec, gateways }));
    if (needed === gateways) break;
    gateways = needed;
  }
  const observed = simulate(parameters, { callsPerSec, gateways });
  return { plannedCallsPerSec: callsPerSec, ...planOf(observed, parameters, costs) };
}

/** CPU-µs a second, without what processes use idle. */
function workOf(observed: Observed, parameters: Parameters, costs: UnitCosts): CpuUs {
  return eachPart(
    (part) =>
      observed.callsPerSec * costs.call[part] +
      observed.admissionScripts * costs.admission[part] +
      observed.settlementScripts * costs.settlement[part] +
      observed.settledPayers * costs.settledPayer[part] +
      observed.hourlyRows * costs.hourlyRow[part] +
      tokensPerSec(parameters) * costs.token[part] +
      observed.introspections * costs.introspection[part] +
      observed.keptEntitlements * costs.keptEntitlement[part] +
      observed.askedEntitlements * costs.entitlement[part],
  );
}

export function planOf(
  observed: Observed,
  parameters: Parameters,
  costs: UnitCosts,
): Omit<Plan, 'plannedCallsPerSec'> {
  const { callsPerSec } = observed;
  const { accounts, busyAtMost, podsAtLeast, streams, postgresCoresAtMost } = parameters;
  const applications = accounts * parameters.applicationsPerAccount;
  const work = workOf(observed, parameters, costs);
  const pods = (part: SystemPart) => Math.max(podsAtLeast, podsFor(work[part], part, parameters, costs));
  const redisByTotal = podsFor(work.Redis, 'Redis', parameters, costs);
  const { shards, busiest } = redisShards(observed, redisByTotal, parameters, costs);
  const accountPods = pods('account');
  const postgresCores = Math.max(
    1,
    Math.ceil((work.Postgres + costs.idle.Postgres) / (CORE_US * busyAtMost)),
  );
  const busiestGateway =
    ((work.gateway / CORE_US) * observed.callsOfBusiestGateway) / callsPerSec + costs.idle.gateway / CORE_US;
  return {
    callsPerSec,
    tokensPerSec: tokensPerSec(parameters),
    introspectionsPerSec: observed.introspections,
    keptEntitlementsPerSec: observed.keptEntitlements,
    askedEntitlementsPerSec: observed.askedEntitlements,
    admissionScriptsPerCall: observed.admissionScripts / callsPerSec,
    settlementScriptsPerCall: observed.settlementScripts / callsPerSec,
    settledPayersPerCall: observed.settledPayers / callsPerSec,
    hourlyRowsPerCall: observed.hourlyRows / callsPerSec,
    busiestPayerPerSec: observed.busiestPayer.calls,
    gatewayPods: observed.gateways,
    busiestGateway,
    authPods: pods('auth'),
    accountPods,
    redisShards: shards,
    busiestShard: busiest,
    busiestPayer: redisCores(observed.busiestPayer, costs),
    postgresCores,
    redisMib: (applications * costs.tokenBytes + accounts * parameters.keptEntitlementBytes) / MIB,
    postgresGibPerMonth: (applications * HOURS_PER_MONTH * costs.hourlyRowBytes) / GIB,
    ceilings: [
      { what: `the busiest Redis shard, one core`, used: busiest / busyAtMost },
      {
        what: `Postgres, one writer of ${String(postgresCoresAtMost)} cores`,
        used: postgresCores / postgresCoresAtMost,
      },
      { what: `all ${String(streams)} Redis shards`, used: redisByTotal / streams },
      { what: `account, ${String(streams)} streams to share`, used: accountPods / streams },
      // Otherwise the balancer gives what is too much for a gateway to others.
      ...(parameters.balancing === 'token' && parameters.gatewayLoadAtMost === null
        ? [{ what: 'the busiest gateway, one core', used: busiestGateway / busyAtMost }]
        : []),
    ].sort((one, other) => other.used - one.used),
  };
}

/** As few masters as keep each below its limit. A stream that is too much for one has a master of its own. */
function redisShards(
  observed: Observed,
  atLeast: number,
  parameters: Parameters,
  costs: UnitCosts,
): { shards: number; busiest: number } {
  const { streams, busyAtMost } = parameters;
  const ofStream = observed.ofStream.map((work) => redisCores(work, costs)).sort((one, other) => other - one);
  const ofStreams = ofStream.reduce((sum, cores) => sum + cores, 0);
  const spread = workOf(observed, parameters, costs).Redis / CORE_US - ofStreams;
  for (let shards = Math.min(streams, Math.max(1, atLeast)); ; shards += 1) {
    const base = spread / shards + costs.idle.Redis / CORE_US;
    const masters = Array.from({ length: shards }, () => ({ cores: base, streams: 0 }));
    for (const cores of ofStream) {
      const [least] = masters.sort((one, other) => one.cores - other.cores);
      if (least === undefined) break;
      least.cores += cores;
      least.streams += 1;
    }
    const fits = masters.every(({ cores, streams: held }) => cores <= busyAtMost || held === 1);
    if (fits || shards >= streams) return { shards, busiest: Math.max(...masters.map(({ cores }) => cores)) };
  }
}

function redisCores(work: CallWork, { call, admission, settlement, settledPayer }: UnitCosts): number {
  const ofScripts = work.admissions * admission.Redis + work.settlements * settlement.Redis;
  return (work.calls * call.Redis + ofScripts + work.settledPayers * settledPayer.Redis) / CORE_US;
}

function tokensPerSec({ accounts, applicationsPerAccount, tokenLifespanSec }: Parameters): number {
  return (accounts * applicationsPerAccount) / tokenLifespanSec;
}

function podsFor(
  cpuUsPerSec: number,
  part: SystemPart,
  { busyAtMost, podsAtLeast }: Parameters,
  costs: UnitCosts,
): number {
  const free = CORE_US * busyAtMost - costs.idle[part];
  return Math.max(part === 'Redis' ? 1 : podsAtLeast, Math.ceil(cpuUsPerSec / free));
}
