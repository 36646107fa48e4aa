import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { alertSettingsSchema } from './input.ts';
import { ALERT_LIMITS, DEFAULT_SETTINGS, highestOfEach, passedShares } from './rules.ts';

const share = fc.integer({ min: 1, max: 100 });
const shares = fc.uniqueArray(share, { maxLength: 10 });
const settings = fc.record({
  mail: fc.boolean(),
  shares,
  limits: fc.record({ points_limit: shares, team_slots_limit: shares }, { requiredKeys: [] }),
});
const use = fc.record({
  limit_name: fc.constantFrom(...ALERT_LIMITS),
  used: fc.bigInt({ min: 0n, max: 2n ** 53n }),
  limit: fc.option(fc.bigInt({ min: 0n, max: 2n ** 53n })),
});

test('a share is passed exactly when nothing less than it is left out, by a second formulation', () => {
  fc.assert(
    fc.property(use, settings, (one, chosen) => {
      const passed = passedShares([one], chosen).map(({ share }) => share);
      const wanted =
        (chosen.limits as Record<string, number[]>)[one.limit_name] ??
        (one.limit_name === 'team_slots_limit' ? [] : chosen.shares);
      // Rounded up, to the first whole number that reaches the threshold.
      const from = (percent: number) => ((one.limit ?? 0n) * BigInt(percent) + 99n) / 100n;
      const expected = wanted.filter((percent) => (one.limit ?? 0n) > 0n && one.used >= from(percent));
      expect(passed).toEqual(expected.toSorted((a, b) => a - b));
    }),
  );
});

test('team slots have alerts only when asked for: seats that are paid for are meant to be taken', () => {
  const full = { limit_name: 'team_slots_limit', used: 1n, limit: 1n } as const;
  expect(passedShares([full], DEFAULT_SETTINGS)).toEqual([]);
  const asked = { ...DEFAULT_SETTINGS, limits: { team_slots_limit: [100] } };
  expect(passedShares([full], asked)).toEqual([{ limit_name: 'team_slots_limit', share: 100 }]);
});

test('more usage passes no fewer shares', () => {
  fc.assert(
    fc.property(use, fc.bigInt({ min: 0n, max: 2n ** 53n }), settings, (one, more, chosen) => {
      const before = passedShares([one], chosen);
      const after = passedShares([{ ...one, used: one.used + more }], chosen);
      expect(after.slice(0, before.length)).toEqual(before);
    }),
  );
});

test('at the edges: 80 % of 10 is 8, 33 % of 100 is 33, and of nothing no share is passed', () => {
  const at = (used: bigint, limit: bigint | null, ...percents: number[]) =>
    passedShares([{ limit_name: 'points_limit', used, limit }], { ...DEFAULT_SETTINGS, shares: percents })
      .length;
  expect([at(7n, 10n, 80), at(8n, 10n, 80), at(32n, 100n, 33), at(33n, 100n, 33)]).toEqual([0, 1, 0, 1]);
  expect([at(0n, 0n, 1), at(5n, 0n, 100), at(5n, null, 1)]).toEqual([0, 0, 0]);
  expect(at(2n ** 53n, 2n ** 53n, 99, 100)).toBe(2);
});

test('a mail tells of the highest of each limit', () => {
  const alert = (limit_name: 'points_limit' | 'time_sec_limit', share: number) => ({ limit_name, share });
  const alerts = [alert('points_limit', 50), alert('points_limit', 80), alert('time_sec_limit', 100)];
  expect(highestOfEach(alerts)).toEqual([alert('points_limit', 80), alert('time_sec_limit', 100)]);
  expect(highestOfEach([])).toEqual([]);
});

test('settings: whole percents from 1 to 100, at most ten, each once; given in order', () => {
  const parsed = (wanted: unknown) => alertSettingsSchema.safeParse(wanted);
  expect(parsed({ mail: true, shares: [100, 5] }).data).toEqual({ mail: true, shares: [5, 100] });
  const own = { mail: false, shares: [], limits: { time_sec_limit: [90], team_slots_limit: [] } };
  expect(parsed(own).data).toEqual(own);
  const wrong: unknown[] = [
    {},
    { mail: 'yes', shares: [] },
    ...[
      [0],
      [101],
      [1.5],
      ['80'],
      [80, 80],
      Array.from({ length: 11 }, (_, index) => index + 1),
      null,
      '80',
    ].map((list) => ({ mail: true, shares: list })),
    { mail: true, shares: [], limits: { rate_limit: [80] } },
    { mail: true, shares: [], limits: { points_limit: [0] } },
    { mail: true, shares: [], limits: null },
    { mail: true, shares: [], more: 1 },
  ];
  for (const each of wrong) expect(parsed(each).success).toBe(false);
});
