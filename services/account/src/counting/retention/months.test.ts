import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MIN_RETENTION_MONTHS, monthBefore } from './months.ts';

test.each([
  ['2026-03-31T23:59:59.999Z', 1, '2026-02-01T00:00:00.000Z'],
  ['2026-01-01T00:00:00.000Z', 14, '2024-11-01T00:00:00.000Z'],
  ['2026-11-30T12:00:00.000Z', -2, '2027-01-01T00:00:00.000Z'],
  ['2026-11-30T12:00:00.000Z', 0, '2026-11-01T00:00:00.000Z'],
])('of %s, %d months before: %s', (instant, months, expected) => {
  expect(monthBefore(new Date(instant), months).toISOString()).toBe(expected);
});

test('what the usage reader takes, 424 days, is never older than what is kept at least', () => {
  const instants = fc.date({
    min: new Date('2020-01-01T00:00:00Z'),
    max: new Date('2100-01-01T00:00:00Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(instants, (now) => {
      const oldest = now.getTime() - 424 * 86_400_000;
      expect(oldest).toBeGreaterThanOrEqual(monthBefore(now, MIN_RETENTION_MONTHS).getTime());
    }),
    { numRuns: 2_000, examples: [[new Date('2027-03-01T00:00:00Z')], [new Date('2028-02-29T00:00:00Z')]] },
  );
});
