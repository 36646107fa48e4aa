import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createBalancer } from './balancing.ts';
import { createWarmCache, idleSecOf } from './caches.ts';
import { createPairTable } from './pair-table.ts';
import { PARAMETERS } from './parameters.ts';
import type { Parameters } from './parameters.ts';
import { createRandom } from './random.ts';
import { simulate } from './simulate.ts';
import { createZipf } from './zipf.ts';

const SMALL: Parameters = { ...PARAMETERS, balancing: 'random', accounts: 2_000, simulatedCalls: 100_000 };
const EVEN: Parameters = { ...SMALL, zipfExponent: 0 };

const anyLoad = fc.record({
  seed: fc.integer(),
  accounts: fc.integer({ min: 1, max: 3_000 }),
  zipfExponent: fc.constantFrom(0, 0.8, 1, 1.2),
  balancing: fc.constantFrom('random' as const, 'token' as const),
  gatewayLoadAtMost: fc.constantFrom(null, 1, 1.25, 2),
  callMs: fc.integer({ min: 1, max: 1_000 }),
  leasedAdmission: fc.constantFrom(null, { intervalMs: 250, fromCalls: 3 }),
  readerStepMs: fc.integer({ min: 10, max: 2_000 }),
  settlementMs: fc.integer({ min: 1, max: 100 }),
  introspectionCacheEntries: fc.integer({ min: 1, max: 3_000 }),
  callsPerSec: fc.integer({ min: 10, max: 20_000 }),
  gateways: fc.integer({ min: 1, max: 50 }),
});

test('the same seed gives the same result, another one another', () => {
  const load = { callsPerSec: 5_000, gateways: 7 };
  expect(simulate(SMALL, load)).toEqual(simulate(SMALL, load));
  expect(simulate({ ...SMALL, seed: 2 }, load)).not.toEqual(simulate(SMALL, load));
});

test('work is conserved: streams add up to all calls, and no call does a thing twice', () => {
  fc.assert(
    fc.property(anyLoad, ({ callsPerSec, gateways, ...some }) => {
      const seen = simulate({ ...SMALL, ...some, simulatedCalls: 5_000 }, { callsPerSec, gateways });
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
      expect(sum(seen.ofStream.map(({ calls }) => calls))).toBeCloseTo(seen.callsPerSec, 6);
      const admissions = sum(seen.ofStream.map((stream) => stream.admissions));
      const settlements = sum(seen.ofStream.map((stream) => stream.settlements));
      expect(admissions).toBeCloseTo(seen.admissionScripts, 6);
      expect(settlements).toBeCloseTo(seen.settlementScripts, 6);
      const settledPayers = sum(seen.ofStream.map((stream) => stream.settledPayers));
      expect(settledPayers).toBeCloseTo(seen.settledPayers, 6);
      // No batch without a payer, and no payer without a call.
      expect(seen.settledPayers).toBeGreaterThanOrEqual(seen.settlementScripts * 0.999_999);
      const perCall = seen.callsPerSec * 1.000_001;
      for (const count of [seen.admissionScripts, seen.settledPayers, seen.introspections]) {
        expect(count).toBeLessThanOrEqual(perCall);
      }
      expect(seen.hourlyRows).toBeLessThanOrEqual(perCall);
      expect(seen.keptEntitlements).toBeLessThanOrEqual(perCall);
      expect(seen.askedEntitlements).toBeLessThanOrEqual(seen.keptEntitlements);
      expect(seen.busiestPayer.calls).toBeLessThanOrEqual(perCall);
    }),
    { numRuns: 50 },
  );
});

test('at even load, a token is introspected once in the lifetime and the time to its next call', () => {
  const seen = simulate(EVEN, { callsPerSec: 1_000, gateways: 5 });
  // 4,000 tokens at 5 gateways, each of which sees one every 20 s.
  expect(seen.introspections / ((4_000 * 5) / (300 + 20))).toBeCloseTo(1, 1);
  // 2,000 accounts in Redis, each asked about every 2 s.
  expect(seen.askedEntitlements / (2_000 / (300 + 2))).toBeCloseTo(1, 1);
});

test('a cache that is too small for its keys hits as often as it holds one of them', () => {
  const entries = 1_000;
  const seen = simulate(
    { ...EVEN, introspectionCacheEntries: entries, cacheTtlSec: 1e6 },
    { callsPerSec: 1_000, gateways: 2 },
  );
  expect(1 - seen.introspections / seen.callsPerSec).toBeCloseTo(entries / 4_000, 1);
});

test('all calls of a token at one gateway need fewer introspections than at any, and a bound keeps that', () => {
  const load = { callsPerSec: 1_000, gateways: 20 };
  const byToken = simulate({ ...SMALL, balancing: 'token', gatewayLoadAtMost: null }, load);
  const bounded = simulate({ ...SMALL, balancing: 'token', gatewayLoadAtMost: 1.25, callMs: 500 }, load);
  const atRandom = simulate(SMALL, load);
  expect(byToken.introspections).toBeLessThan(atRandom.introspections / 2);
  expect(bounded.introspections).toBeLessThan(atRandom.introspections / 2);
  expect(byToken.callsOfBusiestGateway).toBeGreaterThan(atRandom.callsOfBusiestGateway);
  expect(bounded.callsOfBusiestGateway).toBeLessThan(byToken.callsOfBusiestGateway);
});

test('a balancer with a bound never gives a gateway more calls at once, and ends them', () => {
  const anyBalancer = fc.record({
    gatewayLoadAtMost: fc.constantFrom(1, 1.1, 1.25, 2),
    callMs: fc.integer({ min: 1, max: 100 }),
    gateways: fc.integer({ min: 1, max: 20 }),
    applications: fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 300 }),
  });
  fc.assert(
    fc.property(anyBalancer, ({ gateways, applications, ...bound }) => {
      const balance = createBalancer({ balancing: 'token', ...bound }, gateways, createRandom(1));
      const picked: { sec: number; gateway: number }[] = [];
      for (const [index, application] of applications.entries()) {
        const nowSec = index / 1_000;
        const { gateway } = balance(application, nowSec);
        const underWay = picked.filter(({ sec }) => sec + bound.callMs / 1_000 > nowSec);
        const here = underWay.filter((call) => call.gateway === gateway).length;
        expect(here + 1).toBeLessThanOrEqual(
          Math.ceil(((underWay.length + 1) * bound.gatewayLoadAtMost) / gateways),
        );
        picked.push({ sec: nowSec, gateway });
      }
    }),
  );
});

test('an account has a row per step and application, and its busy gateways a script per lease', () => {
  const one: Parameters = {
    ...SMALL,
    accounts: 1,
    introspectionCacheEntries: 10,
    leasedAdmission: null,
  };
  const seen = simulate(one, { callsPerSec: 10_000, gateways: 2 });
  expect(seen.hourlyRows).toBeCloseTo(2 / (one.readerStepMs / 1_000), 6);
  // 5,000 calls/s of a gateway fill batches of one millisecond.
  expect(seen.settlementScripts).toBeLessThanOrEqual(2 * 1_001);
  expect(seen.settledPayers).toBeCloseTo(seen.settlementScripts, 6);
  const leased = simulate(
    { ...one, leasedAdmission: { intervalMs: 250, fromCalls: 5 } },
    { callsPerSec: 10_000, gateways: 2 },
  );
  expect(leased.admissionScripts).toBeCloseTo(2 * 4, 1);
  expect(seen.admissionScripts).toBeGreaterThan(1_000);
});

test("accounts are drawn by their shares, and a pair's slot is its own", () => {
  const random = createRandom(1);
  const { shares, draw } = createZipf(100, 1, random);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
  const drawn = new Float64Array(100);
  for (let call = 0; call < 200_000; call += 1) {
    const rank = draw();
    drawn[rank] = (drawn[rank] ?? 0) + 1;
  }
  for (const rank of [0, 1, 9, 50]) expect((drawn[rank] ?? 0) / 200_000).toBeCloseTo(shares[rank] ?? 0, 2);

  const table = createPairTable(1_000, 100);
  const slots = Array.from({ length: 1_000 }, (_, pair) => table.slotOf(pair % 10, Math.floor(pair / 10)));
  expect(new Set(slots).size).toBe(1_000);
  expect(slots).toEqual(
    Array.from({ length: 1_000 }, (_, pair) => table.slotOf(pair % 10, Math.floor(pair / 10))),
  );
});

test('a cache with room keeps each entry for its lifetime, however often it is read', () => {
  const { shares } = createZipf(1_000, 1, createRandom(1));
  expect(idleSecOf(1_000, 10, { shares, keyShare: 1 })).toBe(Infinity);
  const [few, many] = [100, 500].map((entries) => idleSecOf(entries, 10, { shares, keyShare: 1 }));
  expect(few).toBeLessThan(many ?? 0);
  const lookup = createWarmCache(1, { ttlSec: 10, idleSec: Infinity }, createRandom(1));
  // So rarely used that nothing is there at first.
  expect([0, 1, 9, 10.5, 11].map((sec) => lookup(0, 1e-9, sec))).toEqual([false, true, true, false, true]);
});
