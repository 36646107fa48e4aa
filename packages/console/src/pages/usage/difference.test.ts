import { expect, test } from '@jest/globals';
import { differenceFrom } from './difference.ts';

test.each([
  [100, 112, '12% more than in the 30 days before'],
  [100, 25, '75% less than in the 30 days before'],
  [10, 210, '2,000% more than in the 30 days before'],
  [10_000, 10_001, 'Less than 1% more than in the 30 days before'],
  [10_000, 9_999, 'Less than 1% less than in the 30 days before'],
  [7, 0, '100% less than in the 30 days before'],
  [0, 7, 'None in the 30 days before'],
  [0, 0, 'The same as in the 30 days before'],
])('from %i to %i: %s', (before, total, words) => {
  expect(differenceFrom(before, total, 'the 30 days before')).toBe(words);
});
