import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { eachPart } from '../cost/processes.ts';
import { asWritten } from '../report/results.ts';
import { withTables } from './page.ts';
import type { Simulated } from './page.ts';
import { PARAMETERS } from './parameters.ts';
import type { Parameters } from './parameters.ts';
import { measuredCosts } from './part.ts';
import { planFor, planOf } from './plan.ts';
import type { UnitCosts } from './plan.ts';
import type { Observed } from './simulate.ts';
import { rowCosts, scriptCosts } from './unit-costs.ts';
import type { CallScripts, ScriptStates } from './unit-costs.ts';

const NOTHING = eachPart(() => 0);

const COSTS: UnitCosts = {
  call: { ...NOTHING, gateway: 100, Redis: 10 },
  admission: { ...NOTHING, Redis: 5 },
  settlement: { ...NOTHING, Redis: 12 },
  settledPayer: { ...NOTHING, Redis: 3 },
  hourlyRow: { ...NOTHING, account: 20, Postgres: 10 },
  token: NOTHING,
  introspection: { ...NOTHING, auth: 50 },
  keptEntitlement: NOTHING,
  entitlement: NOTHING,
  idle: NOTHING,
  tokenBytes: 384,
  hourlyRowBytes: 200,
};

/** Calls that share nothing. */
const apart = (calls: number) => ({
  calls,
  admissions: calls,
  settlements: calls,
  settledPayers: calls,
});

const OBSERVED: Observed = {
  callsPerSec: 64_000,
  gateways: 11,
  admissionScripts: 64_000,
  settlementScripts: 64_000,
  settledPayers: 64_000,
  introspections: 24_000,
  keptEntitlements: 0,
  askedEntitlements: 0,
  hourlyRows: 60_000,
  ofStream: Array.from({ length: 64 }, () => apart(1_000)),
  busiestPayer: apart(500),
  callsOfBusiestGateway: 6_000,
};

test('a core at 60 % does what its share of the CPU time allows', () => {
  expect(planOf(OBSERVED, PARAMETERS, COSTS)).toMatchObject({
    // 24,000 × 50 µs, 60,000 × 20 µs and 10 µs.
    authPods: 2,
    accountPods: 2,
    postgresCores: 1,
    // 6,000 × 100 µs.
    busiestGateway: 0.6,
    // 64 × 30 ms: 20 streams fit a core.
    redisShards: 4,
    busiestPayer: 0.015,
  });
});

test('a stream that is too much for a core has a master of its own and is reached first', () => {
  const ofStream = OBSERVED.ofStream.with(7, apart(60_000));
  const observed: Observed = {
    ...OBSERVED,
    ofStream,
    callsPerSec: 123_000,
    admissionScripts: 123_000,
    settlementScripts: 123_000,
    settledPayers: 123_000,
  };
  const plan = planOf(observed, PARAMETERS, COSTS);
  expect(plan.redisShards).toBeLessThan(10);
  expect(plan.busiestShard).toBeCloseTo(1.8, 1);
  expect(plan.ceilings[0]).toMatchObject({ what: 'the busiest Redis shard, one core' });
});

const us = fc.double({ min: 0, max: 1_000, noNaN: true });
const anyCpu = fc.record({ gateway: us, auth: us, account: us, Redis: us, Postgres: us });
const PARTS = ['gateway', 'auth', 'account', 'Redis', 'Postgres'] as const;

/** As measured: of calls that share scripts, of those that share none, and of those of many payers in a batch. */
const SCRIPTS = {
  together: { admissions: 0.02, settlements: 0.06, settledPayers: 0.06 },
  apart: { admissions: 0.2, settlements: 0.98, settledPayers: 0.98 },
  ofManyPayers: { admissions: 0.2, settlements: 0.08, settledPayers: 0.95 },
  withoutShares: { admissions: 0.97, settlements: 0.99, settledPayers: 0.99 },
} as const satisfies Record<keyof ScriptStates, CallScripts>;

function statesOf(cpuUsOf: (scripts: CallScripts, name: keyof ScriptStates) => number): ScriptStates {
  const state = (name: keyof ScriptStates) => ({
    cpuUs: cpuUsOf(SCRIPTS[name], name),
    scripts: SCRIPTS[name],
  });
  return {
    together: state('together'),
    apart: state('apart'),
    ofManyPayers: state('ofManyPayers'),
    withoutShares: state('withoutShares'),
  };
}

test('costs of a call, its scripts and their payers are found in states that they explain', () => {
  const costs = fc.record({ call: us, admission: us, settlement: us, settledPayer: us });
  fc.assert(
    fc.property(costs, (own) => {
      const found = scriptCosts(
        statesOf(
          ({ admissions, settlements, settledPayers }) =>
            own.call +
            admissions * own.admission +
            settlements * own.settlement +
            settledPayers * own.settledPayer,
        ),
      );
      for (const what of ['call', 'admission', 'settlement', 'settledPayer'] as const) {
        expect(found[what]).toBeCloseTo(own[what], 6);
      }
    }),
  );
});

test('a script that costs nothing, as far as can be measured, never has a negative price', () => {
  const cpuUs = { together: 100, apart: 150, ofManyPayers: 120, withoutShares: 140 };
  const { call, admission, settlement } = scriptCosts(statesOf((_scripts, name) => cpuUs[name]));
  expect(admission).toBe(0);
  expect(call).toBeGreaterThan(90);
  expect(settlement).toBeGreaterThan(30);
});

test('states that differ in too little have no prices', () => {
  const { together } = statesOf(() => 1);
  expect(() =>
    scriptCosts({ together, apart: together, ofManyPayers: together, withoutShares: together }),
  ).toThrow('the equations depend on each other');
});

test('costs per call and hourly row explain both measured states', () => {
  fc.assert(
    fc.property(anyCpu, anyCpu, (base, more) => {
      const together = { cpu: base, hourlyRowsPerCall: 0.01 };
      const apart = { cpu: eachPart((part) => base[part] * 60 + more[part]), hourlyRowsPerCall: 0.5 };
      const { call, hourlyRow } = rowCosts(together, apart);
      for (const { cpu, hourlyRowsPerCall } of [together, apart]) {
        for (const part of PARTS) {
          // Never less; more only where a line through both would begin below nothing.
          expect(call[part] + hourlyRow[part] * hourlyRowsPerCall).toBeGreaterThanOrEqual(
            cpu[part] * 0.999_999,
          );
          expect(call[part]).toBeGreaterThanOrEqual(0);
        }
      }
    }),
  );
});

test('more calls never need less', () => {
  const parameters: Parameters = { ...PARAMETERS, accounts: 500, simulatedCalls: 20_000 };
  const plans = [1_000, 10_000, 100_000].map((callsPerSec) => planFor(callsPerSec, parameters, COSTS));
  for (const part of [
    'gatewayPods',
    'accountPods',
    'redisShards',
    'postgresCores',
    'busiestShard',
  ] as const) {
    const needed = plans.map((plan) => plan[part]);
    expect(needed).toEqual(needed.toSorted((one, other) => one - other));
  }
  // 100,000 × 100 µs.
  expect(plans[2]?.gatewayPods).toBeGreaterThanOrEqual(16);
});

test('docs/capacity.md has the tables of the last run, of today’s parameters and the last measured costs', () => {
  const project = join(import.meta.dirname, '../../..');
  const results = join(project, 'bench/results.json');
  const { parts } = JSON.parse(readFileSync(results, 'utf8')) as {
    parts: { name: string; figures: Simulated }[];
  };
  const run = parts.find(({ name }) => name === 'simulate');
  if (run === undefined) throw new Error('the part simulate was never run');
  const page = readFileSync(join(project, 'docs/capacity.md'), 'utf8');
  expect(withTables(page, run.figures)).toBe(page);
  expect(run.figures.parameters).toEqual(PARAMETERS);
  expect(run.figures.costs).toEqual(asWritten(measuredCosts(results)));
});
