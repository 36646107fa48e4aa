import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { planFor } from './capacity.ts';
import type { Costs } from './capacity.ts';
import { withTables } from './capacity-page.ts';
import { eachPart } from './processes.ts';

const NOTHING = eachPart(() => 0);

const COSTS: Costs = {
  call: { gateway: 120, auth: 0, account: 12, Redis: 30, Postgres: 6 },
  token: { ...NOTHING, auth: 60 },
  introspection: { ...NOTHING, auth: 36 },
  keptEntitlement: NOTHING,
  entitlement: { ...NOTHING, account: 100 },
  idle: NOTHING,
  tokenBytes: 384,
  hourlyRowBytes: 200,
};

const costUs = fc.double({ min: 0, max: 1_000, noNaN: true });
const anyCpu = fc.record({
  ...{ gateway: costUs, auth: costUs, account: costUs, Redis: costUs, Postgres: costUs },
});

test('a core at 60 % does what its share of the CPU time allows', () => {
  const plan = planFor(10_000, COSTS);
  // 10,000 × 120 µs are 1.2 cores: two at 60 %.
  expect(plan.gatewayPods).toBe(2);
  expect(plan.redisShards).toBe(1);
  expect(planFor(100_000, COSTS)).toMatchObject({ gatewayPods: 20, redisShards: 5, postgresCores: 1 });
  const reading = { ...COSTS, keptEntitlement: { ...NOTHING, Redis: 100 } };
  expect(planFor(100_000, reading).redisShards).toBeGreaterThan(5);
});

test('a service has two replicas where one would do', () => {
  expect(planFor(1, COSTS)).toMatchObject({ gatewayPods: 2, authPods: 2, accountPods: 2, redisShards: 1 });
});

test('two gateways see a token half as often each, and ask again when its five minutes are over', () => {
  const plan = planFor(1_000, COSTS);
  expect(plan).toMatchObject({ applications: 10_000, gatewayPods: 2 });
  // 10,000 tokens at two gateways: each once in 20 s, plus 300 s in the cache.
  expect(plan.introspectionsPerSec).toBeCloseTo((10_000 * 2) / 320);
  // 5,000 accounts, each at each gateway every 10 s, plus 300 s in the cache.
  expect(plan.keptEntitlementsPerSec).toBeCloseTo((5_000 * 2) / 310);
  // Of all gateways' reads, only those find nothing in Redis that are the first in 300 s.
  expect(plan.entitlementsPerSec).toBeCloseTo(5_000 / 305);
});

test('Redis holds the live tokens, Postgres a row for each hour of each application', () => {
  const plan = planFor(1_000, COSTS);
  expect(plan.redisTokenMib).toBeCloseTo((10_000 * 384) / 2 ** 20);
  expect(plan.postgresGibPerMonth).toBeCloseTo((10_000 * 720 * 200) / 2 ** 30);
});

test('more calls never need less, and look-ups are never more than calls', () => {
  const anyCosts = fc.record({
    ...{ call: anyCpu, token: anyCpu, introspection: anyCpu, entitlement: anyCpu, idle: anyCpu },
    keptEntitlement: anyCpu,
    ...{ tokenBytes: costUs, hourlyRowBytes: costUs },
  });
  fc.assert(
    fc.property(anyCosts, fc.integer({ min: 1, max: 1_000_000 }), (costs, callsPerSec) => {
      const [less, more] = [planFor(callsPerSec, costs), planFor(callsPerSec * 2, costs)];
      for (const part of [
        'gatewayPods',
        'authPods',
        'accountPods',
        'redisShards',
        'postgresCores',
      ] as const) {
        expect(more[part]).toBeGreaterThanOrEqual(less[part]);
      }
      expect(less.introspectionsPerSec).toBeLessThanOrEqual(callsPerSec * 1.000_001);
    }),
  );
});

test('docs/capacity.md has the tables of the last run', () => {
  const project = join(import.meta.dirname, '../../..');
  const page = readFileSync(join(project, 'docs/capacity.md'), 'utf8');
  const { parts } = JSON.parse(readFileSync(join(project, 'bench/results.json'), 'utf8')) as {
    parts: { name: string; figures: { costs: Costs } }[];
  };
  const run = parts.find(({ name }) => name === 'cost');
  if (run === undefined) throw new Error('the part cost was never run');
  expect(withTables(page, run.figures.costs)).toBe(page);
});
