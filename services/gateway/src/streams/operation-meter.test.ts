import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createOperationMeter } from './operation-meter.ts';

const pauses = fc.array(fc.double({ min: 0, max: 100_000, noNaN: true }), { minLength: 1, maxLength: 50 });

test('slices add up to the whole: one request, every millisecond, points for each started minute', () => {
  fc.assert(
    fc.property(pauses, fc.integer({ min: 0, max: 1_000 }), (lengths, pointsPerMinute) => {
      const openedMs = 1_234.567;
      const meter = createOperationMeter(openedMs, pointsPerMinute);
      let nowMs = openedMs;
      const total = { points: 0, requests: 0, timeMs: 0 };
      for (const length of lengths) {
        nowMs += length;
        const slice = meter.takeSlice(nowMs);
        for (const part of Object.values(slice)) expect(part).toBeGreaterThanOrEqual(0);
        total.points += slice.points;
        total.requests += slice.requests;
        total.timeMs += slice.timeMs;
      }
      const elapsedMs = Math.floor(nowMs - openedMs);
      expect(total).toEqual({
        points: (Math.floor(elapsedMs / 60_000) + 1) * pointsPerMinute,
        requests: 1,
        timeMs: elapsedMs,
      });
    }),
  );
});

test('a minute is charged when it begins, whenever it is settled', () => {
  const meter = createOperationMeter(0, 7);
  expect(meter.takeSlice(0)).toEqual({ points: 7, requests: 1, timeMs: 0 });
  expect(meter.takeSlice(59_999)).toEqual({ points: 0, requests: 0, timeMs: 59_999 });
  expect(meter.takeSlice(60_000)).toEqual({ points: 7, requests: 0, timeMs: 1 });
  expect(meter.takeSlice(240_000)).toEqual({ points: 21, requests: 0, timeMs: 180_000 });
});
