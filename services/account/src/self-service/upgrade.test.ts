import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isUpgrade } from './upgrade.ts';

const limit = fc.option(fc.nat(3));
const plan = fc.record({ points_limit: limit, time_sec_limit: limit, traffic_bytes_limit: limit });
const of = (description: Record<string, unknown>) => ({ description });

describe('an upgrade', () => {
  test.each([
    [{ points_limit: 1 }, { points_limit: 2 }, true],
    [{ points_limit: 1 }, {}, true],
    [{ points_limit: 1 }, { points_limit: 1 }, false],
    [{ points_limit: 2 }, { points_limit: 1 }, false],
    [{}, { points_limit: 1 }, false],
    [{ points_limit: 1, time_sec_limit: 5 }, { points_limit: 2, time_sec_limit: 4 }, false],
    [{ points_limit: 1 }, { points_limit: 2, traffic_bytes_limit: 1 }, false],
    [{ points_limit: 1, rate_limit: 60 }, { points_limit: 1, rate_limit: 600 }, false],
  ])('from %j to %j: %s', (from, to, expected) => {
    expect(isUpgrade(of(from), of(to))).toBe(expected);
  });

  test('never leads back, over any number of plans, so that usage is reset a bounded number of times', () => {
    fc.assert(
      fc.property(plan, plan, plan, (one, two, three) => {
        expect(isUpgrade(of(one), of(one))).toBe(false);
        if (isUpgrade(of(one), of(two))) expect(isUpgrade(of(two), of(one))).toBe(false);
        if (isUpgrade(of(one), of(two)) && isUpgrade(of(two), of(three))) {
          expect(isUpgrade(of(one), of(three))).toBe(true);
        }
      }),
    );
  });
});
