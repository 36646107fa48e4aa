import { expect, test } from '@jest/globals';
import { createEstimateRate } from './estimate-rate.ts';
import type { EstimateCaller } from './estimate-rate.ts';

const TOO_MANY = { code: 'too_many_requests', headers: { 'retry-after': '20' } };

function started() {
  let nowMs = 1_000;
  const rate = createEstimateRate(3, () => nowMs);
  return {
    rate,
    pass: (timeMs: number) => {
      nowMs += timeMs;
    },
    takeAll: (caller: EstimateCaller) => {
      let taken = 0;
      for (;;) {
        try {
          rate.takeEstimate(caller);
        } catch (error) {
          expect(error).toMatchObject(TOO_MANY);
          return taken;
        }
        taken += 1;
      }
    },
  };
}

test('a minute’s worth passes at once, then one at a time, for each payer', () => {
  const { takeAll, pass } = started();
  expect(takeAll({ accountId: 1, payerId: 1 })).toBe(3);
  expect(takeAll({ accountId: 2, payerId: 2 })).toBe(3);
  pass(20_000);
  expect(takeAll({ accountId: 1, payerId: 1 })).toBe(1);
  pass(600_000);
  expect(takeAll({ accountId: 1, payerId: 1 })).toBe(3);
});

test('a team shares its estimates, and calls wait only for what their own account sent', () => {
  const { rate, takeAll } = started();
  const [manager, member] = [
    { accountId: 1, payerId: 1 },
    { accountId: 2, payerId: 1 },
  ];
  expect(takeAll(member)).toBe(3);
  expect(takeAll(manager)).toBe(0);
  expect(() => {
    rate.checkCall(member.accountId);
  }).toThrow(expect.objectContaining(TOO_MANY));
  expect(() => {
    rate.checkCall(manager.accountId);
  }).not.toThrow();
});
