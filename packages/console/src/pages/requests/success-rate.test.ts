import { expect, test } from '@jest/globals';
import { successText } from './success-rate.ts';

const refused = (calls: Readonly<Record<string, number>>) => ({
  calls: Object.values(calls).reduce((sum, count) => sum + count, 0),
  codes: Object.entries(calls).map(([code, count]) => ({
    code,
    calls: count,
    last_at: '2026-11-27T17:00:00Z',
  })),
});

test.each([
  [0, {}, null],
  [1_200, {}, 'All 1,200 calls succeeded.'],
  [1, {}, '1 call succeeded.'],
  [900, { rate_limit_exceeded: 100 }, '90% of 1,000 calls succeeded.'],
  // Usage counts it.
  [1_000, { upstream_error: 100 }, '90% of 1,000 calls succeeded.'],
  [999_999, { unauthorized: 1 }, '99.9% of 1,000,000 calls succeeded.'],
  [0, { unauthorized: 3 }, '0% of 3 calls succeeded.'],
  // Usage is counted a moment later than failures.
  [0, { upstream_error: 2, unauthorized: 1 }, '0% of 1 call succeeded.'],
])('%d calls in the usage, and refused and failed ones %j', (requests, calls, shown) => {
  expect(successText(requests, refused(calls))).toBe(shown);
});
