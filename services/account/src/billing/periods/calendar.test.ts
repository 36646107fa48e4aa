import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  isPeriodStart,
  lastSecondBefore,
  periodAt,
  periodFrom,
  periodStart,
  secondAfter,
} from './calendar.ts';
import type { BillingInterval } from './calendar.ts';

const DAY_MS = 86_400_000;

const interval = fc.constantFrom<BillingInterval>('month', 'year');

/** Whole seconds of a century with leap years, one that isn't (2100) and one that is (2000). */
const anchors = fc
  .integer({ min: Date.UTC(1999, 0, 1) / 1_000, max: Date.UTC(2101, 0, 1) / 1_000 })
  .map((second) => new Date(second * 1_000));

/** The days that months differ in, at midnight and at a day's last second. */
const monthEnds = fc
  .tuple(
    fc.integer({ min: 1999, max: 2101 }),
    fc.nat(11),
    fc.integer({ min: 27, max: 31 }),
    fc.constantFrom(0, DAY_MS - 1_000),
  )
  .map(([year, month, day, timeMs]) => new Date(Date.UTC(year, month, day) + timeMs));

const anchor = fc.oneof(anchors, monthEnds);

/** Second formulation: walks day by day; a month ends on the anchor's day or, if it has no such day, on its last. */
function walkedStart(from: Date, unit: BillingInterval, index: number): Date {
  const timeMs = from.getTime() % DAY_MS;
  const months = index * (unit === 'year' ? 12 : 1);
  const wantedDay = from.toISOString().slice(8, 10);
  let midnightMs = from.getTime() - timeMs;
  for (let passed = 0; passed < months;) {
    const monthBefore = monthOf(midnightMs);
    midnightMs += DAY_MS;
    if (monthOf(midnightMs) !== monthBefore) passed += 1;
  }
  const month = monthOf(midnightMs);
  if (months === 0) return from;
  while (dayOf(midnightMs) !== wantedDay && monthOf(midnightMs + DAY_MS) === month) midnightMs += DAY_MS;
  return new Date(midnightMs + timeMs);
}

const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7);
const dayOf = (ms: number) => new Date(ms).toISOString().slice(8, 10);

describe('the periods of a subscription', () => {
  test.each([
    ['2026-01-31T10:20:30Z', 'month', 1, '2026-02-28T10:20:30.000Z'],
    ['2026-01-31T10:20:30Z', 'month', 2, '2026-03-31T10:20:30.000Z'],
    ['2026-01-31T10:20:30Z', 'month', 3, '2026-04-30T10:20:30.000Z'],
    ['2028-01-30T00:00:00Z', 'month', 1, '2028-02-29T00:00:00.000Z'],
    ['2026-11-30T23:59:59Z', 'month', 3, '2027-02-28T23:59:59.000Z'],
    ['2026-12-31T00:00:00Z', 'month', 1, '2027-01-31T00:00:00.000Z'],
    ['2024-02-29T12:00:00Z', 'year', 1, '2025-02-28T12:00:00.000Z'],
    ['2024-02-29T12:00:00Z', 'year', 4, '2028-02-29T12:00:00.000Z'],
    ['2096-02-29T12:00:00Z', 'year', 4, '2100-02-28T12:00:00.000Z'],
    ['2026-07-24T00:00:00Z', 'year', 1, '2027-07-24T00:00:00.000Z'],
  ] as const)('anchored at %s by the %s: number %i begins at %s', (from, unit, index, expected) => {
    expect(periodStart(new Date(from), unit, index).toISOString()).toBe(expected);
  });

  test('end one second before the next begins: a month from the first is to its last second', () => {
    const from = new Date('2026-07-01T00:00:00Z');
    expect(periodAt(from, 'month', new Date('2026-07-31T23:59:59.999Z'))).toEqual({
      started_at: from,
      ended_at: new Date('2026-07-31T23:59:59Z'),
    });
  });

  test('begin on the days that walking through the calendar finds, whatever the anchor', () => {
    fc.assert(
      fc.property(anchor, fc.integer({ min: 0, max: 26 }), (from, index) => {
        expect(periodStart(from, 'month', index)).toEqual(walkedStart(from, 'month', index));
      }),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(anchor, fc.nat(5), (from, index) => {
        expect(periodStart(from, 'year', index)).toEqual(walkedStart(from, 'year', index));
      }),
      { numRuns: 60 },
    );
  });

  test('follow each other without a gap or an overlap, and each instant is in exactly one', () => {
    fc.assert(
      fc.property(
        anchor,
        interval,
        fc.nat(40),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (from, unit, index, part) => {
          const started_at = periodStart(from, unit, index);
          const next = periodStart(from, unit, index + 1);
          expect(next.getTime()).toBeGreaterThan(started_at.getTime());
          const ended_at = new Date(next.getTime() - 1_000);
          const within =
            started_at.getTime() + Math.floor(part * (next.getTime() - 1 - started_at.getTime()));
          for (const ms of [started_at.getTime(), within, next.getTime() - 1]) {
            expect(periodAt(from, unit, new Date(ms))).toEqual({ started_at, ended_at });
          }
          expect(secondAfter({ ended_at })).toEqual(next);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

test('a rest of less than was asked for is a part of the next period', () => {
  const start = new Date('2026-02-01T00:00:00Z');
  const restOf = (anchor: string) => {
    const calendar = { anchor: new Date(anchor), billing_interval: 'month' } as const;
    return periodFrom(start, calendar, start, 86_400_000).ended_at.toISOString();
  };
  expect(restOf('2026-01-01T00:00:07Z')).toBe('2026-03-01T00:00:06.000Z');
  expect(restOf('2026-01-02T00:00:00Z')).toBe('2026-02-01T23:59:59.000Z');
  expect(restOf('2026-01-20T00:00:00Z')).toBe('2026-02-19T23:59:59.000Z');
  expect(restOf('2026-01-01T00:00:00Z')).toBe('2026-02-28T23:59:59.000Z');
});

test('a period starts at its anchor, and at no other second of the day', () => {
  const calendar = { anchor: new Date('2026-01-31T10:00:00Z'), billing_interval: 'month' } as const;
  expect(isPeriodStart(calendar, new Date('2026-02-28T10:00:00Z'))).toBe(true);
  expect(isPeriodStart(calendar, new Date('2026-02-28T10:00:01Z'))).toBe(false);
  expect(isPeriodStart(calendar, new Date('2026-03-28T10:00:00Z'))).toBe(false);
});

test('a period that ends now ends with the second before, and has two seconds at least', () => {
  const started_at = new Date('2026-07-01T00:00:00Z');
  const endAt = (now: string) => lastSecondBefore(new Date(now), { started_at }).toISOString();
  expect(endAt('2026-07-01T00:00:10Z')).toBe('2026-07-01T00:00:09.000Z');
  expect(endAt('2026-07-01T00:00:02Z')).toBe('2026-07-01T00:00:01.000Z');
  expect(endAt('2026-07-01T00:00:00Z')).toBe('2026-07-01T00:00:01.000Z');
});
