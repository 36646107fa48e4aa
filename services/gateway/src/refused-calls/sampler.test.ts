import { expect, test } from '@jest/globals';
import { createSampler } from './sampler.ts';

test('an abuser’s refusals are sampled, the next record says how many were left out, and others keep theirs', () => {
  const sample = createSampler(10_000);
  const taken = Array.from({ length: 5_000 }, () => sample(7, '192.0.2.7', 1_000));
  expect(taken.slice(0, 200)).toEqual(taken.slice(0, 200).map(() => 0));
  expect(taken.slice(200).every((one) => one === null)).toBe(true);
  expect(sample(8, '192.0.2.7', 1_000)).toBe(0);
  expect(sample(null, '192.0.2.7', 1_000)).toBe(0);
  expect(sample(7, '192.0.2.7', 2_000)).toBe(4_800);
  expect(sample(7, '192.0.2.7', 2_000)).toBeNull();
});

test('addresses without a token, however many, leave the records of accounts alone', () => {
  const sample = createSampler(100);
  const strangers = Array.from({ length: 1_000 }, (_, index) => sample(null, `stranger-${String(index)}`, 0));
  expect(strangers.filter((one) => one !== null)).toHaveLength(100);
  expect(sample(7, '192.0.2.7', 0)).toBe(0);
});

test('with 0 per second nothing is recorded', () => {
  const sample = createSampler(0);
  expect([sample(7, '', 0), sample(null, '192.0.2.7', 60_000)]).toEqual([null, null]);
});
