import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LIMIT_FIELDS } from '@tollgate/contracts/entitlement';
import { enforcedLimits, reportedLimits } from './limits.ts';

describe('limits of a billing period', () => {
  test('a limit that the description lacks is reported as 0 and not enforced', () => {
    const period = { description: { points_limit: 5, support: 'e-mail' }, team_slots_limit: null };
    expect(reportedLimits(period)).toEqual({
      points_limit: 5,
      rate_limit: 0,
      session_limit: 0,
      subscription_limit: 0,
      time_sec_limit: 0,
      traffic_bytes_limit: 0,
      team_slots_limit: 0,
    });
    expect(enforcedLimits(period)).toMatchObject({ points_limit: 5, rate_limit: null, time_sec_limit: null });
  });

  test('an explicit 0 is enforced', () => {
    expect(enforcedLimits({ description: { rate_limit: 0 }, team_slots_limit: null }).rate_limit).toBe(0);
  });

  test('null in the description means the same as absence', () => {
    const period = { description: { rate_limit: null }, team_slots_limit: null };
    expect(enforcedLimits(period).rate_limit).toBeNull();
    expect(reportedLimits(period).rate_limit).toBe(0);
  });

  test('team slots bought for the period go before those of the description', () => {
    expect(reportedLimits({ description: {}, team_slots_limit: 7 }).team_slots_limit).toBe(7);
    const both = { description: { team_slots_limit: 2 }, team_slots_limit: 0 };
    expect(enforcedLimits(both).team_slots_limit).toBe(0);
  });

  test('no guess is enforced for a limit that is no whole number', () => {
    for (const rate_limit of ['5', -1, 1.5, true, {}, [], 2 ** 53]) {
      expect(() => enforcedLimits({ description: { rate_limit }, team_slots_limit: null })).toThrow(
        TypeError,
      );
    }
  });

  test('all seven fields are there whatever the description holds, and both views agree', () => {
    const description = fc.dictionary(
      fc.oneof(fc.constantFrom(...LIMIT_FIELDS), fc.string()),
      fc.option(fc.nat()),
    );
    fc.assert(
      fc.property(description, fc.option(fc.nat()), (attributes, slots) => {
        const period = { description: attributes, team_slots_limit: slots };
        const enforced = enforcedLimits(period);
        expect(Object.keys(enforced)).toEqual([...LIMIT_FIELDS]);
        for (const field of LIMIT_FIELDS) {
          const own = field === 'team_slots_limit' ? (slots ?? attributes[field]) : attributes[field];
          expect(enforced[field]).toBe(own ?? null);
          expect(reportedLimits(period)[field]).toBe(own ?? 0);
        }
      }),
    );
  });
});
