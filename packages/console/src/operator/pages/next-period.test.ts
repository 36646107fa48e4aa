import { expect, test } from '@jest/globals';
import { instantOf, nextPeriod } from './next-period.ts';

const now = Date.parse('2026-03-15T12:34:56.789Z');
const ended = (...ends: string[]) => ends.map((ended_at) => ({ ended_at }));

test.each([
  ['after the last one', ended('2026-03-31T23:59:59Z', '2026-04-30T23:59:59Z'), '2026-05-01', '2026-05-31'],
  ['from today, where none is', [], '2026-03-15', '2026-04-14'],
  ['from today, where the last one is long over', ended('2025-12-31T23:59:59Z'), '2026-03-15', '2026-04-14'],
  ['to the end of a shorter month', ended('2027-01-30T23:59:59Z'), '2027-01-31', '2027-02-27'],
  [
    'to the second, where the last one ends within a day',
    ended('2026-03-20T10:00:00Z'),
    '2026-03-20T10:00:01Z',
    '2026-04-20T10:00:00Z',
  ],
])('%s', (_when, periods, from, to) => {
  expect(nextPeriod(periods, now)).toEqual({ from, to });
});

test('a day begins at midnight and ends a second before the next', () => {
  expect([instantOf(' 2026-07-01 ', false), instantOf('2026-07-31', true)]).toEqual([
    '2026-07-01T00:00:00Z',
    '2026-07-31T23:59:59Z',
  ]);
  expect(instantOf('2026-07-31T12:00:00Z', true)).toBe('2026-07-31T12:00:00Z');
});
