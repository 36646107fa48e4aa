import { expect, test } from '@jest/globals';
import { cpuNotes, doubtsOf, quantile, ratiosOf, spreadOf } from './ratios.ts';

const busy = { perSec: 100, serverCpu: 1, loadCpu: 0.5 };

test('a spread is the median and the ends, whatever the order', () => {
  expect(spreadOf([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 });
  expect(spreadOf([4, 1, 2, 3])).toEqual({ median: 2.5, min: 1, max: 4 });
});

test('a ratio is of two rounds that followed each other', () => {
  const pairs = [200, 50].map((perSec) => ({ ours: { ...busy, perSec }, peer: busy }));
  expect(ratiosOf(pairs)).toEqual([2, 0.5]);
});

test('p99 of a hundred is the 99th', () => {
  const ascending = Array.from({ length: 100 }, (_, index) => index + 1);
  expect(quantile(ascending, 0.99)).toBe(99);
  expect(quantile([7], 0.99)).toBe(7);
});

test('a round whose load generator was busy, or whose server was not, says so', () => {
  expect(doubtsOf([{ ours: busy, peer: busy }])).toEqual([]);
  expect(doubtsOf([{ ours: { ...busy, loadCpu: 0.95 }, peer: { ...busy, serverCpu: 0.5 } }])).toEqual([
    'round 1, ours: the load generator used 95 % of its core',
    'round 1, peer: the server used only 50 % of its core',
  ]);
});

test('by CPU time, a server that was held up is as fast as it was', () => {
  const heldUp = { ...busy, perSec: 50, serverCpu: 0.5 };
  expect(cpuNotes([{ ours: heldUp, peer: busy }], 'peer')).toEqual([
    "the server's share of its core in %, by round: ours 50; peer 100",
    "the load generator's share of its own: ours 50; peer 50",
    "per second of the server's CPU, ours did 1.00 (1.00–1.00) times what peer did",
  ]);
});
