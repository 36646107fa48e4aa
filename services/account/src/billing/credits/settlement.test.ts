import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { demandOf, settleGrowth, settleShrinkage } from './settlement.ts';
import type { PeriodState, Use } from './settlement.ts';

type Grant = { credit_id: number; points: number; from: number; until: number };

type Scenario = {
  /** In order of use. */
  grants: Grant[];
  included: number[];
  /** Points of a period at an instant; in order of time. */
  uses: { period: number; at: number; points: number }[];
};

const INSTANTS = 20;

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  grants: fc
    .array(
      fc.record({
        points: fc.integer({ min: 1, max: 15 }),
        from: fc.integer({ min: 0, max: INSTANTS }),
        length: fc.integer({ min: 1, max: INSTANTS }),
      }),
      { maxLength: 4 },
    )
    .map((grants) =>
      grants.map(({ points, from, length }, index) => ({
        credit_id: index,
        points,
        from,
        until: from + length,
      })),
    ),
  included: fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 3 }),
  uses: fc
    .array(
      fc.record({
        period: fc.nat({ max: 2 }),
        at: fc.integer({ min: 0, max: 2 * INSTANTS }),
        points: fc.integer({ min: 0, max: 10 }),
      }),
      { maxLength: 12 },
    )
    .map((uses) => uses.toSorted((one, other) => one.at - other.at)),
});

const isUsable = ({ from, until }: Grant, at: number) => from <= at && at < until;

/** Point by point, as calls use them. */
function byPoints({ grants, included, uses }: Scenario) {
  const left = grants.map(({ points }) => points);
  const room = [...included];
  let overuse = 0;
  for (const { period, at, points } of uses) {
    for (let point = 0; point < points; point += 1) {
      const index = period % included.length;
      if ((room[index] ?? 0) > 0) room[index] = (room[index] ?? 0) - 1;
      else {
        const grant = grants.findIndex((one, id) => isUsable(one, at) && (left[id] ?? 0) > 0);
        if (grant === -1) overuse += 1;
        else left[grant] = (left[grant] ?? 0) - 1;
      }
    }
  }
  return { left, overuse };
}

/** Segment by segment, as account settles; `extra` are further moments at which it settles what it has counted. */
function bySegments({ grants, included, uses }: Scenario, extra: readonly number[]) {
  const left = grants.map(({ points }) => points);
  let periods: PeriodState[] = included.map((points, period_id) => ({
    period_id,
    included: points,
    points: 0,
    settled_points: 0,
    overuse_points: 0,
    carried_points: 0,
  }));
  const cuts = [...new Set([...grants.flatMap(({ from, until }) => [from, until]), ...extra, Infinity])];
  for (const cut of cuts.toSorted((one, other) => one - other)) {
    const counted = periods.map((period) => ({
      ...period,
      points: uses
        .filter(({ period: index, at }) => index % included.length === period.period_id && at < cut)
        .reduce((sum, { points }) => sum + points, 0),
    }));
    const usable = grants
      .filter(({ from, until }) => from < cut && until >= cut)
      .map(({ credit_id }) => ({ credit_id, points_remaining: left[credit_id] ?? 0 }));
    const settled = settleGrowth(counted, usable);
    for (const { credit_id, points } of settled.uses) left[credit_id] = (left[credit_id] ?? 0) - points;
    periods = counted.map(
      (period) => settled.periods.find(({ period_id }) => period_id === period.period_id) ?? period,
    );
  }
  return { left, overuse: periods.reduce((sum, { overuse_points }) => sum + overuse_points, 0), periods };
}

describe('settled segment by segment', () => {
  test('grants have left what they have if each point is taken when it is used, however it is counted', () => {
    fc.assert(
      fc.property(
        scenarios,
        fc.array(fc.integer({ min: 0, max: 2 * INSTANTS }), { maxLength: 5 }),
        (scenario, extra) => {
          const { left, overuse, periods } = bySegments(scenario, extra);
          expect({ left, overuse }).toEqual(byPoints(scenario));
          for (const period of periods) expect(period.settled_points).toBe(demandOf(period));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

test('further points are taken by the use of their own period only, and by it before there is overuse', () => {
  const grants = fc.array(fc.record({ points: fc.nat({ max: 9 }), only: fc.constantFrom(null, 0, 1, 2) }));
  fc.assert(
    fc.property(grants, fc.array(fc.nat({ max: 20 }), { maxLength: 3 }), (given, demands) => {
      const usable = given.map(({ points, only }, credit_id) => ({
        credit_id,
        points_remaining: points,
        overage_period_id: only,
      }));
      const none = { included: 0, settled_points: 0, overuse_points: 0, carried_points: 0 };
      const periods = demands.map((points, period_id) => ({ ...none, period_id, points }));
      const { uses, periods: settled } = settleGrowth(periods, usable);
      const left = given.map(({ points }) => points);
      for (const { credit_id, points, period_id } of uses) {
        expect([null, period_id]).toContain(given[credit_id]?.only);
        left[credit_id] = (left[credit_id] ?? 0) - points;
      }
      expect(left.every((points) => points >= 0)).toBe(true);
      for (const { period_id, points, overuse_points } of settled) {
        const taken = uses.filter((one) => one.period_id === period_id);
        expect(taken.reduce((sum, one) => sum + one.points, 0) + overuse_points).toBe(points);
        const isLeft = given.some(({ only }, id) => [null, period_id].includes(only) && (left[id] ?? 0) > 0);
        expect(overuse_points > 0 && isLeft).toBe(false);
      }
    }),
  );
});

describe('given back', () => {
  const used = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 5 });

  test('is overuse first, then the last use, and what stays settled is what is needed', () => {
    fc.assert(
      fc.property(used, fc.nat({ max: 9 }), fc.nat({ max: 60 }), (points, overuse_points, now) => {
        const uses: Use[] = points.map((one, index) => ({
          movement_id: index,
          credit_id: index,
          points: one,
        }));
        const paid = points.reduce((sum, one) => sum + one, 0);
        const period = {
          period_id: 1,
          included: 5,
          points: now,
          settled_points: paid + overuse_points,
          overuse_points,
          carried_points: 0,
        };
        const { period: after, givenBack } = settleShrinkage(period, uses);
        const back = givenBack.reduce((sum, one) => sum + one.points, 0);
        expect(after.settled_points).toBe(Math.min(period.settled_points, demandOf(period)));
        expect(paid - back + after.overuse_points).toBe(after.settled_points);
        expect(back === 0 || after.overuse_points === 0).toBe(true);
        const untouched = uses.slice(0, uses.length - givenBack.length);
        expect(givenBack.map(({ movement_id }) => movement_id)).toEqual(
          uses
            .slice(untouched.length)
            .toReversed()
            .map(({ movement_id }) => movement_id),
        );
        for (const one of givenBack.slice(0, -1)) expect(one.points).toBe(uses[one.movement_id]?.points);
      }),
    );
  });
});
