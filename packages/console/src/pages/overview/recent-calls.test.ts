import { expect, test } from '@jest/globals';
import { areSomeRefused, callsToday } from './recent-calls.ts';

const hours = (first: string, calls: readonly number[]) =>
  calls.map((count, hour) => ({
    started_at: new Date(Date.parse(first) + hour * 3_600_000).toISOString(),
    calls: count,
    codes: [],
  }));

test('the calls of today are those since midnight UTC', () => {
  expect(callsToday(hours('2026-11-26T22:00:00Z', [5, 7, 1, 2]))).toBe(3);
  expect(callsToday([])).toBe(0);
});

test.each([
  [[990, 0], [0, 10], false],
  [[989, 0], [0, 11], true],
  [[0, 0], [0, 1], true],
  [[0, 0], [0, 0], false],
  // Older than two hours.
  [[1, 1, 1], [9, 0, 0], false],
])('of %j calls and %j refused ones by the hour, some are refused: %j', (calls, refused, is) => {
  const first = '2026-11-27T10:00:00Z';
  expect(areSomeRefused(hours(first, calls), { buckets: hours(first, refused) })).toBe(is);
});
