import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createSweep } from './sweep.ts';

const INTERVAL_MS = 50;

let things: string[];
let sweeps: number;

const sweep = createSweep(INTERVAL_MS, () => {
  sweeps += 1;
  things.pop();
  return things.length > 0;
});

beforeEach(() => {
  jest.useFakeTimers();
  [things, sweeps] = [[], 0];
});

afterEach(() => {
  sweep.stop();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

test('it runs until nothing is left, and again once there is something', () => {
  expect(jest.getTimerCount()).toBe(0);
  things = ['one', 'two'];
  sweep.start();
  sweep.start();
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(10 * INTERVAL_MS);
  expect(sweeps).toBe(2);
  expect(jest.getTimerCount()).toBe(0);
  things = ['three'];
  sweep.start();
  jest.advanceTimersByTime(INTERVAL_MS);
  expect(sweeps).toBe(3);
});

test('stopped, it ends although something is left', () => {
  things = ['one', 'two'];
  sweep.start();
  sweep.stop();
  jest.advanceTimersByTime(10 * INTERVAL_MS);
  expect(sweeps).toBe(0);
});
