import { expect, test } from '@jest/globals';
import {
  admittedBeyondPoints,
  overTheRate,
  refusedWithFreeSlots,
  refusedWithinTheRate,
  refusedWithPointsLeft,
} from './limit-model.ts';
import type { Admitted } from './limit-model.ts';

/** A call of 10 ms, 6 of them at the upstream. */
function call(beganMs: number): Admitted {
  const [cameMs, answeredMs, endedMs] = [beganMs + 2, beganMs + 8, beganMs + 10];
  return { id: beganMs, beganMs, cameMs, answeredMs, endedMs, status: 200, code: '', points: 5, bytes: 2 };
}

const calls = (...beganMs: number[]) => beganMs.map(call);

/** 60 a minute: one accrues each second. */
test('the rate: a full minute’s worth at once and one more a second later is allowed, one sooner is not', () => {
  const burst = Array.from({ length: 60 }, () => call(0));
  expect(overTheRate([...burst, call(998)], 60)).toEqual([]);
  expect(overTheRate([...burst, call(990)], 60)).toHaveLength(60);
  expect(overTheRate([...burst, ...calls(2_000, 2_001)], 60)).toEqual([]);
  expect(overTheRate([...burst, ...calls(100_000, 100_001)], 60)).toEqual([]);
});

test('the rate: a refusal fits when no more than the last of it was free', () => {
  const burst = Array.from({ length: 60 }, () => call(0));
  const refused = calls(20, 990, 1_002, 1_500);
  expect(refusedWithinTheRate(refused, burst, 60)).toEqual(calls(1_002, 1_500));
  expect(refusedWithinTheRate(calls(20), burst.slice(1), 60)).toEqual(calls(20));
  expect(refusedWithinTheRate(calls(1_500), [...burst, call(1_100)], 60)).toEqual([]);
});

test('the sessions: a refusal fits when all slots can have been taken at one moment of it', () => {
  expect(refusedWithFreeSlots(calls(5), calls(0, 4), 2)).toEqual([]);
  expect(refusedWithFreeSlots(calls(5), calls(0, 8), 2)).toEqual([]);
  expect(refusedWithFreeSlots(calls(5), calls(0, 11), 2)).toEqual(calls(5));
  expect(refusedWithFreeSlots(calls(50), calls(0, 4), 2)).toEqual(calls(50));
});

test('the points: none begins after what was answered is the limit, none is refused before', () => {
  expect(admittedBeyondPoints(calls(0, 5, 12), 10)).toEqual([]);
  expect(admittedBeyondPoints(calls(0, 5, 16), 10)).toEqual(calls(16));
  expect(refusedWithPointsLeft(calls(4), calls(0, 5), 10)).toEqual([]);
  expect(refusedWithPointsLeft(calls(2), calls(0, 5), 10)).toEqual(calls(2));
});
