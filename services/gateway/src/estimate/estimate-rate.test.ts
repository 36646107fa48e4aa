import { expect, test } from '@jest/globals';
import { createEstimateRate } from './estimate-rate.ts';

test('a minute’s worth passes at once, then one at a time, for each account', () => {
  let nowMs = 1_000;
  const rate = createEstimateRate(3, () => nowMs);
  const takeAll = (accountId: number) => {
    let taken = 0;
    for (;;) {
      try {
        rate.check(accountId);
      } catch (error) {
        expect(error).toMatchObject({ code: 'too_many_requests', headers: { 'retry-after': '20' } });
        return taken;
      }
      rate.take(accountId);
      taken += 1;
    }
  };
  expect(takeAll(1)).toBe(3);
  expect(takeAll(2)).toBe(3);
  nowMs += 20_000;
  expect(takeAll(1)).toBe(1);
  nowMs += 600_000;
  expect(takeAll(1)).toBe(3);
});
