import { medianScripts, scriptsText } from '../cost/sharing.ts';
import type { PartResult } from '../part.ts';
import { spreadOf, spreadText, whole } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';
import { settlementCosts } from '../simulate/unit-costs.ts';
import type { ScriptState, SettledStates, SettlementCosts } from '../simulate/unit-costs.ts';
import { withRedis } from '../with-redis.ts';
import { settleCalls } from './simulated-calls.ts';
import type { SettledLoad, SimulatedRound } from './simulated-calls.ts';

const ROUNDS = 5;
const INTERVAL_MS = 20;

/** The busiest of 500,000 accounts with 1,000,000 calls/s, by docs/capacity.md. */
const BUSIEST: SettledLoad = { gateways: 144, callsPerSec: 507, payers: 1, intervalMs: INTERVAL_MS };

/** They differ in what calls share: a batch, and a payer's part of it. */
const STATES: Readonly<Record<keyof SettledStates, SettledLoad & { what: string }>> = {
  together: { ...BUSIEST, what: 'one payer' },
  apart: {
    ...BUSIEST,
    what: 'one payer with few calls, without an interval',
    callsPerSec: 50,
    intervalMs: 0,
  },
  ofManyPayers: { ...BUSIEST, what: '20 payers', payers: 20 },
};

/** Of a core. */
const GOAL = 0.6;

export type ManyGatewaysFigures = { costs: SettlementCosts };

/**
 * What a Redis shard does that takes a little from each of many gateways, as in a large installation. For a gateway by
 * itself, as the part cost measures it, Redis reads, writes and syncs for few calls at a time.
 */
export async function measureManyGateways(
  servers: Servers,
  say: (line: string) => void,
): Promise<PartResult> {
  const rounds: Record<keyof SettledStates, SimulatedRound[]> = { together: [], apart: [], ofManyPayers: [] };
  const named = Object.entries(STATES) as [keyof SettledStates, SettledLoad & { what: string }][];
  await withRedis(servers, async (redis) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, { what, ...load }] of named) {
        const measured = await settleCalls(servers, redis, load);
        rounds[name].push(measured);
        say(`many-gateways: ${what}: ${lineOf([measured])}`);
      }
    }
  });
  const costs = settlementCosts({
    together: medianOf(rounds.together),
    apart: medianOf(rounds.apart),
    ofManyPayers: medianOf(rounds.ofManyPayers),
  });
  const busy = rounds.together.map(({ callsPerSec, cpuUs }) => (callsPerSec * cpuUs) / 1_000_000);
  const { median } = spreadOf(busy);
  const calls = BUSIEST.gateways * BUSIEST.callsPerSec;
  return {
    goals: [
      {
        what: `of Redis' core, to settle ${whole(calls)} calls/s of one payer at ${String(BUSIEST.gateways)} gateways with SETTLEMENT_INTERVAL_MS=${String(INTERVAL_MS)}`,
        figure: spreadText(spreadOf(busy)),
        target: `≤ ${String(GOAL)}`,
        reached: median <= GOAL,
      },
    ],
    notes: [
      `calls end at random times at ${String(BUSIEST.gateways)} gateways, whose own code settles them in one process; SETTLEMENT_INTERVAL_MS=${String(INTERVAL_MS)} unless stated; all states in turn, ${String(ROUNDS)} rounds, median (min–max)`,
      ...named.map(([name, { what }]) => `${what}: ${lineOf(rounds[name])}`),
      `of Redis' CPU-µs: a call by itself ${costs.call.toFixed(1)}, a settlement script ${costs.settlement.toFixed(1)}, each payer in one ${costs.settledPayer.toFixed(1)}`,
    ],
    figures: { costs } satisfies ManyGatewaysFigures,
  };
}

function medianOf(rounds: readonly SimulatedRound[]): ScriptState {
  return {
    cpuUs: spreadOf(rounds.map(({ cpuUs }) => cpuUs)).median,
    scripts: medianScripts(rounds.map(({ scripts }) => scripts)),
  };
}

function lineOf(rounds: readonly SimulatedRound[]): string {
  return (
    `${whole(spreadOf(rounds.map(({ callsPerSec }) => callsPerSec)).median)} calls/s, ` +
    `${spreadText(spreadOf(rounds.map(({ cpuUs }) => cpuUs)), 1)} CPU-µs of Redis a call; ${scriptsText(medianOf(rounds).scripts)}`
  );
}
