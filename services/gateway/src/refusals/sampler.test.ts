import { expect, test } from '@jest/globals';
import { createSampler } from './sampler.ts';

const abuse = { accountId: 7, addressGroup: '192.0.2.7', code: 'rate_limit_exceeded' };
const stranger = { ...abuse, accountId: null };

test('an abuser’s refusals are sampled, the next record says how many were left out, and others keep theirs', () => {
  const sample = createSampler(10_000);
  const taken = Array.from({ length: 5_000 }, () => sample(abuse, 1_000));
  expect(taken.slice(0, 60)).toEqual(taken.slice(0, 60).map(() => 0));
  expect(taken.slice(60).every((one) => one === null)).toBe(true);
  expect(sample({ ...abuse, accountId: 8 }, 1_000)).toBe(0);
  expect(sample({ ...abuse, accountId: null }, 1_000)).toBe(0);
  expect(sample(abuse, 16_000)).toBe(4_940);
  expect(sample(abuse, 16_000)).toBeNull();
});

test('one code, however often, leaves the records of an account’s other codes alone', () => {
  const sample = createSampler(10_000);
  for (let call = 0; call < 5_000; call += 1) sample(abuse, 1_000);
  expect(sample({ ...abuse, code: 'upstream_timeout' }, 1_000)).toBe(0);
});

test('addresses without a token, however many, leave the records of accounts alone', () => {
  const sample = createSampler(100);
  const strangers = Array.from({ length: 1_000 }, (_, index) =>
    sample({ ...stranger, addressGroup: `stranger-${String(index)}` }, 0),
  );
  expect(strangers.filter((one) => one !== null)).toHaveLength(100);
  expect(sample(abuse, 0)).toBe(0);
});

test('with 0 per second nothing is recorded', () => {
  const sample = createSampler(0);
  expect([sample(abuse, 0), sample(stranger, 60_000)]).toEqual([null, null]);
});
