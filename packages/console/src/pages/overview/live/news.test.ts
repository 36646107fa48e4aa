import { expect, test } from '@jest/globals';
import { newsOf } from './news.ts';
import type { Pace } from '../queries.ts';

/** What a screen reader is told while figures change. */

const BEFORE = {
  status: 'active',
  payer: null,
  billing_period: { ended_at: '2026-12-01T00:00:00Z', grace_ends_at: '2026-12-08T00:00:00Z' },
  limits: { points_limit: { usage: 10, limit: 100, used_share: 0.1, reached: false } },
  crossed_thresholds: [],
} as unknown as Pace;

const threshold = (share_percent: number) =>
  ({ limit: 'points_limit', share_percent, crossed_at: '2026-11-22T10:00:00Z' }) as const;

const pointsAt = (usage: number, reached = false) =>
  ({ points_limit: { ...BEFORE.limits.points_limit, usage, reached } }) as Pace['limits'];

test('calls alone are not announced', () => {
  for (let usage = 11; usage < 100; usage += 1) {
    expect(newsOf(BEFORE, { ...BEFORE, limits: pointsAt(usage), elapsed_share: usage / 100 })).toBe('');
  }
});

test('a crossed threshold is announced once', () => {
  const crossed = { ...BEFORE, crossed_thresholds: [threshold(80)] };
  expect(newsOf(BEFORE, crossed)).toBe('Points: 80% of the limit is used.');
  expect(newsOf(crossed, { ...crossed, limits: pointsAt(81) })).toBe('');
});

test('a limit that is reached and a status that changes are announced with what to do', () => {
  const reached = { ...BEFORE, limits: pointsAt(100, true), crossed_thresholds: [threshold(100)] };
  expect(newsOf(BEFORE, reached)).toMatch(/^Limit reached\. .*change to a larger plan/);
  expect(newsOf(reached, { ...reached, limits: pointsAt(104, true) })).toBe('');
  expect(newsOf(BEFORE, { ...BEFORE, status: 'expired' })).toMatch(/^Expired\. .*renew your plan/);
});
