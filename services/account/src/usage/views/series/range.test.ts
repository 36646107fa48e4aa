import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bucketStarts, rangeFaults, usageRange } from './range.ts';
import type { Interval } from './range.ts';

const NOW = new Date('2026-03-29T01:30:15.250Z');
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

type Wanted = { interval?: Interval; from?: string; to?: string };

const wantedOf = ({ interval = 'day', from, to }: Wanted) => ({
  interval,
  from: from === undefined ? undefined : new Date(from),
  to: to === undefined ? undefined : new Date(to),
});

const texts = (wanted: Wanted) => {
  const { from, to } = usageRange(wantedOf(wanted), NOW);
  return [from, to].map((edge) => edge.toISOString().replace(':00:00.000Z', ''));
};

describe('the range', () => {
  test.each<[Wanted, string, string]>([
    [{}, '2026-02-28T00', '2026-03-30T00'],
    [{ interval: 'hour' }, '2026-03-28T02', '2026-03-29T02'],
    [{ from: '2026-03-01T23:59:59Z', to: '2026-03-02T00:00:01Z' }, '2026-03-01T00', '2026-03-03T00'],
    [{ from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' }, '2026-03-01T00', '2026-03-02T00'],
    [{ interval: 'hour', from: '2026-03-29T00:59:00+01:00' }, '2026-03-28T23', '2026-03-29T02'],
    // The rest of the day that is running has no hours yet.
    [
      { interval: 'hour', from: '2026-03-29T00:00:00Z', to: '2026-03-30T00:00:00Z' },
      '2026-03-29T00',
      '2026-03-29T02',
    ],
    [{ to: '2025-02-03T00:00:00Z' }, '2025-01-29T00', '2025-02-03T00'],
  ])('of %j is from %s to %s', (wanted, from, to) => {
    expect(rangeFaults(wantedOf(wanted), NOW)).toEqual([]);
    expect(texts(wanted)).toEqual([from, to]);
  });

  test.each<[Wanted, [string, string][]]>([
    [{ from: '2026-03-29T01:31:00Z' }, [['from', 'must not be in the future']]],
    [{ to: '2026-03-30T00:00:01Z' }, [['to', 'must not be in the future']]],
    [{ from: '2025-01-28T23:59:59Z' }, [['from', 'must be within the last 14 months']]],
    [{ to: '2025-01-29T00:00:00Z' }, [['to', 'must be within the last 14 months']]],
    [{ from: '2026-03-02T00:00:00Z', to: '2026-03-02T00:00:00Z' }, [['to', 'must be after from']]],
    [
      { interval: 'hour', from: '2026-02-26T01:59:59Z' },
      [['from', 'must be at most 31 days before to, by the hour']],
    ],
    [
      { from: '2027-01-01T00:00:00Z', to: '2020-01-01T00:00:00Z' },
      [
        ['from', 'must not be in the future'],
        ['to', 'must be within the last 14 months'],
        ['to', 'must be after from'],
      ],
    ],
  ])('of %j is refused', (wanted, faults) => {
    expect(rangeFaults(wantedOf(wanted), NOW).map(({ field, message }) => [field, message])).toEqual(faults);
  });

  test('that is accepted has whole buckets, one after the other, as few as cover it up to now', () => {
    const minutes = fc.integer({ min: -430 * 24 * 60, max: 24 * 60 });
    const instant = fc.option(
      minutes.map((minute) => new Date(NOW.getTime() + minute * MINUTE_MS)),
      { nil: undefined },
    );
    fc.assert(
      fc.property(
        fc.record({ interval: fc.constantFrom<Interval>('hour', 'day'), from: instant, to: instant }),
        (wanted) => {
          fc.pre(rangeFaults(wanted, NOW).length === 0);
          const range = usageRange(wanted, NOW);
          const step = wanted.interval === 'hour' ? HOUR_MS : 24 * HOUR_MS;
          const starts = bucketStarts(range).map((start) => start.getTime());
          expect(starts.length).toBeGreaterThan(0);
          expect(starts.length).toBeLessThanOrEqual(wanted.interval === 'hour' ? 31 * 24 : 426);
          expect(starts).toEqual(starts.map((_start, index) => range.from.getTime() + index * step));
          const edge = wanted.interval === 'hour' ? /:00:00\.000Z$/ : /T00:00:00\.000Z$/;
          expect(range.from.toISOString()).toMatch(edge);
          const last = starts.at(-1) ?? 0;
          const until = Math.min((wanted.to ?? NOW).getTime(), NOW.getTime() + 1);
          expect([last < until, last + step >= until]).toEqual([true, true]);
          if (wanted.from !== undefined) {
            expect(range.from <= wanted.from && wanted.from.getTime() < range.from.getTime() + step).toBe(
              true,
            );
          }
        },
      ),
    );
  });
});
