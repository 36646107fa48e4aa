import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fasterPace, pointsOfPeriod } from './points-of-period.ts';

/** Points per day against the limit, and where they lead. */

type Usage = Parameters<typeof pointsOfPeriod>[0];

function usedFrom(first: string, points: readonly number[]): Usage {
  const buckets = points.map((points_usage, day) => ({
    started_at: new Date(Date.parse(first) + day * 86_400_000).toISOString(),
    usage: { points_usage, requests_usage: 1, time_sec_usage: 0, traffic_bytes_usage: 0 },
    groups: [],
  }));
  return { buckets };
}

const paceOf = (usage: number, limit: number, perDay: number, recent = 0) => ({
  usage,
  limit,
  used_share: usage / limit,
  reached: usage >= limit,
  whole_period: { per_day: perDay, reached_at: null },
  last_24_hours: { per_day: recent, reached_at: null },
});

describe('points of a billing period', () => {
  test('have its days, the days to come, and what was used by the end of each', () => {
    const usage = usedFrom('2026-11-20T00:00:00Z', [10, 0, 30]);
    expect(pointsOfPeriod(usage, paceOf(40, 100, 20), '2026-11-24T10:00:00Z', true)).toEqual({
      days: ['2026-11-20', '2026-11-21', '2026-11-22', '2026-11-23', '2026-11-24'],
      perDay: [10, 0, 30, null, null],
      soFar: [10, 10, 40, null, null],
      forecast: [null, null, 40, 60, 80],
    });
  });

  test('what the first day has of the period before it does not count', () => {
    const usage = usedFrom('2026-11-20T00:00:00Z', [500, 5]);
    expect(pointsOfPeriod(usage, paceOf(8, 100, 1), '2026-11-21T10:00:00Z', true).soFar).toEqual([3, 8]);
  });

  test('a forecast takes the faster pace and ends at the limit', () => {
    const usage = usedFrom('2026-11-20T00:00:00Z', [10]);
    const pace = paceOf(10, 50, 5, 30);
    expect(fasterPace(pace)).toBe(30);
    expect(pointsOfPeriod(usage, pace, '2026-11-23T00:00:00Z', true).forecast).toEqual([10, 40, 50, 50]);
  });

  test('there is no forecast without days to come, without points left, or without a limit', () => {
    const usage = usedFrom('2026-11-20T00:00:00Z', [10, 20]);
    const forecastOf = (...given: [Parameters<typeof pointsOfPeriod>[1], string]) =>
      pointsOfPeriod(usage, ...given, true).forecast.filter((value) => value !== null);
    expect(forecastOf(paceOf(30, 100, 5), '2026-11-21T23:59:59Z')).toEqual([]);
    expect(forecastOf(paceOf(30, 30, 5), '2026-11-25T00:00:00Z')).toEqual([]);
    expect(forecastOf(undefined, '2026-11-25T00:00:00Z')).toEqual([]);
    const tooEarly = pointsOfPeriod(usage, paceOf(30, 100, 5), '2026-11-25T00:00:00Z', false);
    expect(tooEarly.forecast.filter((value) => value !== null)).toEqual([]);
    expect(pointsOfPeriod(usage, undefined, '2026-11-21T00:00:00Z', true).soFar).toEqual([null, null]);
  });

  test('whatever was used: it never falls, never exceeds the total, and ends with it', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 40 }), fc.nat(), (points, total) => {
        const usage = usedFrom('2026-11-01T00:00:00Z', points);
        const { soFar } = pointsOfPeriod(usage, paceOf(total, total + 1, 3), '2026-12-31T00:00:00Z', true);
        const known = soFar.filter((value) => value !== null);
        expect(known).toEqual(known.toSorted((one, other) => one - other));
        expect([known.length, known.at(-1), Math.min(...known) >= 0]).toEqual([points.length, total, true]);
      }),
    );
  });
});
