import { expect, test } from '@jest/globals';
import { MAX_EVENT_COUNTER } from '@tollgate/contracts/usage-stream';
import { statedPoints } from './price.ts';

test.each<[string | string[] | undefined, ReturnType<typeof statedPoints>]>([
  ['7', 7],
  ['0', 0],
  ['007', 7],
  ['7 ', 7],
  [' \t7\t ', 7],
  [String(MAX_EVENT_COUNTER), MAX_EVENT_COUNTER],
  [String(MAX_EVENT_COUNTER + 1), 'unreadable'],
  [undefined, 'missing'],
  [['7', '7'], 'repeated'],
  ['', 'unreadable'],
  ['7, 7', 'unreadable'],
  ['7 7', 'unreadable'],
  ['-1', 'unreadable'],
  ['+1', 'unreadable'],
  ['1.5', 'unreadable'],
  ['1e3', 'unreadable'],
  ['0x10', 'unreadable'],
  ['\u00a07', 'unreadable'],
])('X-Points: %j is %j', (given, points) => {
  expect(statedPoints(given === undefined ? {} : { 'x-points': given })).toBe(points);
});
