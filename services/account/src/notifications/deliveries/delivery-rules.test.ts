import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { disableReason, retryDelayMs } from './delivery-rules.ts';

const delays = fc.array(fc.nat({ max: 100_000 }), { maxLength: 20 });

const random = fc.double({ min: 0, max: 1, noNaN: true });

test('as many retries as there are delays, each as late as it says and at most a tenth later', () => {
  fc.assert(
    fc.property(delays, fc.integer({ min: 1, max: 25 }), random, (retryDelaysSec, attempts, luck) => {
      const delayMs = retryDelayMs({ attempts, retryAfterSec: null }, { retryDelaysSec }, luck);
      const wanted = retryDelaysSec[attempts - 1];
      if (wanted === undefined) expect(delayMs).toBeNull();
      else {
        expect(delayMs).toBeGreaterThanOrEqual(wanted * 1_000);
        expect(delayMs).toBeLessThanOrEqual(wanted * 1_100);
      }
    }),
  );
});

test('what a server asks for makes a retry later, never earlier, never more, and up to the longest delay', () => {
  const asked = fc.oneof(fc.nat({ max: 200_000 }), fc.constant(Infinity));
  fc.assert(
    fc.property(delays, fc.integer({ min: 1, max: 25 }), asked, (retryDelaysSec, attempts, retryAfterSec) => {
      const rules = { retryDelaysSec };
      const own = retryDelayMs({ attempts, retryAfterSec: null }, rules, 0);
      const delayMs = retryDelayMs({ attempts, retryAfterSec }, rules, 0);
      const longest = Math.max(...retryDelaysSec) * 1_000;
      expect(delayMs).toBe(own === null ? null : Math.max(own, Math.min(retryAfterSec * 1_000, longest)));
    }),
  );
});

test('gone at once, failing when it is time', () => {
  const rules = { retryDelaysSec: [], disableAfterSec: 100 };
  expect(disableReason({ gone: true, failingForSec: 0 }, rules)).toBe('gone');
  expect(disableReason({ gone: false, failingForSec: 99.9 }, rules)).toBeNull();
  expect(disableReason({ gone: false, failingForSec: 100 }, rules)).toBe('failing');
});
