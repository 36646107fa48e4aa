import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { afterDecline, hasRoom, isToldByMail } from './rules.ts';

const HOUR_MS = 3_600_000;

describe('after a decline', () => {
  test('attempts wait 1 and 3 hours, and pause after the third', () => {
    expect(afterDecline(0, 'insufficient_funds')).toEqual({
      declines: 1,
      paused_for: null,
      backoffMs: HOUR_MS,
    });
    expect(afterDecline(1, null)).toEqual({ declines: 2, paused_for: null, backoffMs: 3 * HOUR_MS });
    expect(afterDecline(2, null)).toEqual({ declines: 3, paused_for: 'declined', backoffMs: 7 * HOUR_MS });
  });

  test.each(['authentication_required', 'fraudulent', 'lost_card', 'stolen_card'])(
    'by %s they pause at once',
    (code) => {
      expect(afterDecline(0, code)).toMatchObject({ declines: 1, paused_for: code });
    },
  );

  test('the first one and a pause are told by mail', () => {
    const told = [0, 1, 2].map((before) => isToldByMail(afterDecline(before, 'generic_decline')));
    expect(told).toEqual([true, false, true]);
  });
});

test('no number of purchases exceeds a limit of a month', () => {
  const positive = fc.integer({ min: 1, max: 1_000 });
  fc.assert(
    fc.property(positive, positive, fc.array(positive), (max_times, max_amount, prices) => {
      const spent = { times: 0, amount: 0 };
      for (const price of prices) {
        if (!hasRoom({ max_times, max_amount }, spent, price)) continue;
        spent.times += 1;
        spent.amount += price;
      }
      expect(spent.times).toBeLessThanOrEqual(max_times);
      expect(spent.amount).toBeLessThanOrEqual(max_amount);
    }),
  );
});
