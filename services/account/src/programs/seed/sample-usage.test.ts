import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sampleUsage } from './sample-usage.ts';
import type { SampleCaller } from './sample-usage.ts';

const HOUR_MS = 3_600_000;

const CALLERS: readonly SampleCaller[] = [
  { account_id: 1, application_id: 1, api_version: 'v2', share: 0.6, rhythm: 'backend', pointsPerRequest: 3 },
  { account_id: 2, application_id: 2, api_version: 'v1', share: 0.4, rhythm: 'people', pointsPerRequest: 5 },
];

const sumOf = (rows: readonly { points: number }[]) => rows.reduce((sum, { points }) => sum + points, 0);

test('adds up to its points, hour by hour within the span, the same each time', () => {
  const start = fc.date({ min: new Date('2024-01-01'), max: new Date('2040-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(start, fc.integer({ min: 7, max: 31 }), (from, days) => {
      const to = new Date(from.getTime() + days * 24 * HOUR_MS);
      const rows = sampleUsage(9, { from, to }, 800_000, CALLERS);
      expect(sampleUsage(9, { from, to }, 800_000, CALLERS)).toEqual(rows);
      expect(Math.abs(sumOf(rows) - 800_000)).toBeLessThan(rows.length);
      for (const { hour_ms, points, requests } of rows) {
        expect(hour_ms).toBeGreaterThanOrEqual(from.getTime());
        expect(hour_ms + HOUR_MS).toBeLessThanOrEqual(to.getTime());
        expect(requests).toBeGreaterThan(0);
        expect(requests).toBeLessThanOrEqual(points);
      }
      const keys = rows.map(({ hour_ms, application_id }) => `${String(hour_ms)} ${String(application_id)}`);
      expect(new Set(keys).size).toBe(rows.length);
    }),
    { numRuns: 20 },
  );
});

test('weekends are quiet', () => {
  const [from, to] = [new Date('2026-11-02T00:00:00Z'), new Date('2026-11-09T00:00:00Z')];
  const rows = sampleUsage(9, { from, to }, 100_000, CALLERS);
  const ofDay = (day: number) => sumOf(rows.filter(({ hour_ms }) => new Date(hour_ms).getUTCDay() === day));
  for (const weekday of [1, 2, 3, 4, 5]) {
    expect(ofDay(0)).toBeLessThan(ofDay(weekday) / 2);
    expect(ofDay(6)).toBeLessThan(ofDay(weekday) / 2);
  }
});

test('a span without a whole hour has none', () => {
  const from = new Date('2026-11-02T10:05:00Z');
  expect(sampleUsage(9, { from, to: new Date('2026-11-02T10:59:00Z') }, 100, CALLERS)).toEqual([]);
});
