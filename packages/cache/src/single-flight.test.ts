import { expect, test } from '@jest/globals';
import { createSingleFlight } from './single-flight.ts';

test('callers of one key share the work under way; other keys and later callers have their own', async () => {
  const outcomes: string[] = [];
  const singleFlight = createSingleFlight<string, number>((outcome) => outcomes.push(outcome));
  let started = 0;
  const work = () => Promise.resolve((started += 1));
  const first = [singleFlight('a', work), singleFlight('a', work), singleFlight('b', work)];
  expect(await Promise.all(first)).toEqual([1, 1, 2]);
  expect(await singleFlight('a', work)).toBe(3);
  expect(outcomes).toEqual(['miss', 'joined', 'miss', 'miss']);
});

test('a failure reaches all who share it, and is not kept', async () => {
  const singleFlight = createSingleFlight<string, number>();
  const failing = () => Promise.reject(new Error('away'));
  const failures = await Promise.allSettled([singleFlight('a', failing), singleFlight('a', failing)]);
  expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await singleFlight('a', () => Promise.resolve(1))).toBe(1);
});
