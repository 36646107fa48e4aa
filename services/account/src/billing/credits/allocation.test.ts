import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CREDIT_SOURCES, allocate, inOrderOfUse } from './allocation.ts';
import type { OrderedGrant } from './allocation.ts';

/** Few values of each, so that grants are often equal in all but one. */
const grants: fc.Arbitrary<OrderedGrant[]> = fc.uniqueArray(
  fc.record({
    credit_id: fc.integer({ min: 1, max: 30 }),
    source: fc.constantFrom(...CREDIT_SOURCES),
    priority: fc.constantFrom(0, 50, 100),
    expires_at: fc.constantFrom(null, new Date(1_000), new Date(2_000)),
    created_at: fc.constantFrom(new Date(0), new Date(1)),
  }),
  { selector: ({ credit_id }) => credit_id, maxLength: 8 },
);

/** The rules as the specification states them, each a filter of what the one before leaves. */
const RULES: readonly ((grant: OrderedGrant) => number)[] = [
  ({ source }) => (source === 'overage' ? 1 : 0),
  ({ priority }) => priority,
  ({ expires_at }) => expires_at?.getTime() ?? Number.MAX_SAFE_INTEGER,
  ({ source }) =>
    [['promotion', 'compensation'], ['carry_over'], ['purchase']].findIndex((rank) => rank.includes(source)),
  ({ created_at }) => created_at.getTime(),
  ({ credit_id }) => credit_id,
];

function naiveOrder(all: readonly OrderedGrant[]): OrderedGrant[] {
  const left = [...all];
  const order: OrderedGrant[] = [];
  while (left.length > 0) {
    let first = left;
    for (const rule of RULES) {
      const least = Math.min(...first.map(rule));
      first = first.filter((grant) => rule(grant) === least);
    }
    for (const grant of first) {
      order.push(grant);
      left.splice(left.indexOf(grant), 1);
    }
  }
  return order;
}

describe('the order of use', () => {
  test('is what the rules say, one after the other', () => {
    fc.assert(
      fc.property(grants, (all) => {
        expect(inOrderOfUse(all)).toEqual(naiveOrder(all));
      }),
    );
  });

  test('does not depend on the order in which grants are read', () => {
    fc.assert(
      fc.property(
        grants.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
        ),
        ([all, shuffled]) => {
          expect(inOrderOfUse(shuffled)).toEqual(inOrderOfUse(all));
        },
      ),
    );
  });
});

describe('an allocation', () => {
  const demand = fc.integer({ min: 0, max: 60 });
  const usable = fc
    .array(fc.integer({ min: 0, max: 20 }), { maxLength: 6 })
    .map((left) => left.map((points_remaining, index) => ({ credit_id: index + 1, points_remaining })));

  test('is what taking one point after the other gives', () => {
    fc.assert(
      fc.property(demand, usable, (wanted, from) => {
        const left = from.map(({ points_remaining }) => points_remaining);
        const points = from.map(() => 0);
        let overuse = 0;
        for (let point = 0; point < wanted; point += 1) {
          const index = left.findIndex((remaining) => remaining > 0);
          if (index === -1) overuse += 1;
          else {
            left[index] = (left[index] ?? 0) - 1;
            points[index] = (points[index] ?? 0) + 1;
          }
        }
        const taken = points.map((one, index) => ({ credit_id: index + 1, points: one }));
        expect(allocate(wanted, from)).toEqual({ taken: taken.filter((one) => one.points > 0), overuse });
      }),
    );
  });

  test('loses no point and makes none, and takes from no grant more than it has', () => {
    const large = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(large, fc.array(large, { maxLength: 4 }), (wanted, left) => {
        const from = left.map((points_remaining, index) => ({ credit_id: index, points_remaining }));
        const { taken, overuse } = allocate(wanted, from);
        for (const { credit_id, points } of taken) expect(points).toBeLessThanOrEqual(left[credit_id] ?? 0);
        const sum = taken.reduce((total, { points }) => total + points, 0);
        expect(sum + overuse).toBe(wanted);
        expect(overuse === 0 || sum === left.reduce((total, points) => total + points, 0)).toBe(true);
      }),
    );
  });
});
