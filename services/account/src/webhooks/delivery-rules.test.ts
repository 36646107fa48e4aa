import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { disableReason, retryDelayMs } from './delivery-rules.ts';

const delays = fc.array(fc.nat({ max: 100_000 }), { maxLength: 20 });

test('as many retries as there are delays, each as late as it says and at most a tenth later', () => {
  fc.assert(
    fc.property(
      delays,
      fc.integer({ min: 1, max: 25 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (list, attempts, random) => {
        const delayMs = retryDelayMs(attempts, { retryDelaysSec: list, disableAfterSec: 1 }, random);
        const wanted = list[attempts - 1];
        if (wanted === undefined) expect(delayMs).toBeNull();
        else {
          expect(delayMs).toBeGreaterThanOrEqual(wanted * 1_000);
          expect(delayMs).toBeLessThanOrEqual(wanted * 1_100);
        }
      },
    ),
  );
});

test('gone at once, failing when it is time', () => {
  const rules = { retryDelaysSec: [], disableAfterSec: 100 };
  expect(disableReason({ gone: true, failingForSec: 0 }, rules)).toBe('gone');
  expect(disableReason({ gone: false, failingForSec: 99.9 }, rules)).toBeNull();
  expect(disableReason({ gone: false, failingForSec: 100 }, rules)).toBe('failing');
});
