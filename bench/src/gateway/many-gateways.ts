import { scriptsText } from '../cost/sharing.ts';
import type { PartResult } from '../part.ts';
import { spreadOf, spreadText, whole } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';
import { withRedis } from '../with-redis.ts';
import { scriptCosts } from '../simulate/unit-costs.ts';
import type { ScriptCosts, ScriptStates } from '../simulate/unit-costs.ts';
import { SHARE_TRUST_MS, simulateCalls } from './simulated-calls.ts';
import type { SimulatedLoad, SimulatedRound } from './simulated-calls.ts';

const ROUNDS = 5;
const GATEWAYS = 40;
const INTERVAL_MS = 20;

const ONE: SimulatedLoad = {
  gateways: GATEWAYS,
  // Some 230 calls a second: few enough that Redis isn't the limit, with any of the states.
  callers: 50,
  pauseMs: 200,
  payers: 1,
  trustMs: SHARE_TRUST_MS,
  intervalMs: 0,
};

/** They differ in what calls share: a batch, a payer's part of it, an admission. */
const STATES: Readonly<Record<keyof ScriptStates, SimulatedLoad & { what: string }>> = {
  together: { ...ONE, what: 'one payer', intervalMs: INTERVAL_MS },
  apart: { ...ONE, what: 'one payer, without an interval' },
  ofManyPayers: { ...ONE, what: '20 payers', payers: 20, intervalMs: INTERVAL_MS },
  withoutShares: { ...ONE, what: 'one payer, without shares', trustMs: 0, intervalMs: INTERVAL_MS },
};

/** Calls a second of the busiest of 500,000 accounts with 1,000,000 calls/s, by docs/capacity.md, in 60 % of a core. */
const GOAL = 73_000 / 0.6;

export type ManyGatewaysFigures = { costs: ScriptCosts };

/**
 * CPU-µs of a Redis shard that takes a little from each of many gateways, as in a large installation. A gateway by
 * itself, as the part cost measures it, makes Redis read, write and sync for few calls at a time.
 */
export async function measureManyGateways(
  servers: Servers,
  say: (line: string) => void,
): Promise<PartResult> {
  const rounds = { together: [], apart: [], ofManyPayers: [], withoutShares: [] } as Record<
    keyof ScriptStates,
    SimulatedRound[]
  >;
  const named = Object.entries(STATES) as [keyof ScriptStates, (typeof STATES)[keyof ScriptStates]][];
  await withRedis(servers, async (redis) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, { what, ...load }] of named) {
        const measured = await simulateCalls(servers, redis, load);
        rounds[name].push(measured);
        say(`many-gateways: ${what}: ${lineOf([measured])}`);
      }
    }
  });
  const state = (name: keyof ScriptStates) => medianOf(rounds[name]);
  const costs = scriptCosts({
    together: state('together'),
    apart: state('apart'),
    ofManyPayers: state('ofManyPayers'),
    withoutShares: state('withoutShares'),
  });
  const ofOnePayer = 1_000_000 / state('together').cpuUs;
  return {
    goals: [
      {
        what: `calls of one payer per second of Redis' CPU, through ${String(GATEWAYS)} gateways with SETTLEMENT_INTERVAL_MS=${String(INTERVAL_MS)}`,
        figure: whole(ofOnePayer),
        target: `≥ ${whole(GOAL)}`,
        reached: ofOnePayer >= GOAL,
      },
    ],
    notes: [
      `${String(GATEWAYS)} gateways, each with ${String(ONE.callers)} callers that call about every ${String(ONE.pauseMs)} ms; SETTLEMENT_INTERVAL_MS=${String(INTERVAL_MS)} unless stated; all states in turn, ${String(ROUNDS)} rounds, median (min–max); otherwise as in the part hot-payer`,
      ...named.map(([name, { what }]) => `${what}: ${lineOf(rounds[name])}`),
      `of Redis' CPU-µs: a call by itself ${costs.call.toFixed(1)}, an admission script ${costs.admission.toFixed(1)}, a settlement script ${costs.settlement.toFixed(1)}, each payer in one ${costs.settledPayer.toFixed(1)}`,
    ],
    figures: { costs } satisfies ManyGatewaysFigures,
  };
}

function medianOf(rounds: readonly SimulatedRound[]): ScriptStates[keyof ScriptStates] {
  const median = (valueOf: (round: SimulatedRound) => number) => spreadOf(rounds.map(valueOf)).median;
  return {
    cpuUs: median(({ redisUs }) => redisUs),
    scripts: {
      admissions: median(({ scripts }) => scripts.admissions),
      settlements: median(({ scripts }) => scripts.settlements),
      settledPayers: median(({ scripts }) => scripts.settledPayers),
    },
  };
}

function lineOf(rounds: readonly SimulatedRound[]): string {
  return (
    `${whole(spreadOf(rounds.map(({ callsPerSec }) => callsPerSec)).median)} calls/s, ` +
    `${spreadText(spreadOf(rounds.map(({ redisUs }) => redisUs)), 1)} CPU-µs of Redis a call; ${scriptsText(medianOf(rounds).scripts)}`
  );
}
