import { expect, test } from '@jest/globals';
import { PartMissing, loadPart } from './load-part.ts';

/** A part of a page whose script fails to load. */

const gone = new TypeError('Failed to fetch dynamically imported module');

/** Fails this often, then loads. */
function failing(times: number) {
  let asked = 0;
  return async () => {
    asked += 1;
    if (asked <= times) throw gone;
    return Promise.resolve('part');
  };
}

function network(reachable: boolean) {
  const pausesMs: number[] = [];
  return {
    pausesMs,
    isReachable: () => Promise.resolve(reachable),
    pause: (ms: number) => {
      pausesMs.push(ms);
      return Promise.resolve();
    },
  };
}

test('is loaded after an outage of any length, and asked for every five seconds', async () => {
  const outage = network(false);
  expect(await loadPart(failing(1_000), outage)).toBe('part');
  expect(outage.pausesMs.slice(0, 5)).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
});

test('is loaded when a connection broke off once', async () => {
  expect(await loadPart(failing(1), network(true))).toBe('part');
});

test('is missing when Tollgate answers without it', async () => {
  const update = network(true);
  await expect(loadPart(failing(3), update)).rejects.toThrow(PartMissing);
  expect(update.pausesMs).toEqual([1_000, 2_000]);
});
