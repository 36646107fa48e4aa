import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nextStep, targetOf } from './target.ts';
import type { Holding } from './target.ts';

const NOTHING = { paid: 1_900, refunded: 0, pending: 0, lost: 0, isDisputed: false };

describe('the points to take', () => {
  test.each([
    ['nothing', {}, { target: 0, frozen: 0 }],
    ['a refund of a third', { refunded: 633 }, { target: 3_331, frozen: 0 }],
    ['a refund that is pending', { refunded: 950, pending: 950 }, { target: 5_000, frozen: 5_000 }],
    ['a dispute', { isDisputed: true }, { target: 10_000, frozen: 10_000 }],
    ['a dispute after a refund', { refunded: 950, isDisputed: true }, { target: 10_000, frozen: 5_000 }],
    ['a lost dispute', { lost: 1_900 }, { target: 10_000, frozen: 0 }],
    ['a refund and a lost dispute', { refunded: 950, lost: 1_900 }, { target: 10_000, frozen: 0 }],
  ])('of %s', (_what, changes, expected) => {
    expect(targetOf(10_000, { ...NOTHING, ...changes })).toEqual(expected);
  });

  test('are exact for the largest purchase', () => {
    const half = { ...NOTHING, paid: 99_999_999, refunded: 99_999_998 };
    expect(targetOf(Number.MAX_SAFE_INTEGER, half).target).toBe(9_007_199_164_668_997);
  });
});

/** Grants as the ledger keeps them: voids end them whole, and how much was left is known later. */
class Ledger {
  grants: (Holding & { refunded: number })[] = [];
  /** Granted again, after a void had taken too much. */
  returned = 0;
  used = 0;

  constructor(points: number) {
    this.grant(points);
  }

  grant(points: number) {
    const credit_id = this.grants.length + 1;
    this.grants.push({
      credit_id,
      points_remaining: points,
      isVoiding: false,
      isUsable: true,
      refunded: 0,
    });
  }

  get left() {
    return this.grants.reduce((sum, { points_remaining }) => sum + points_remaining, 0);
  }

  get taken() {
    return this.grants.reduce((sum, { refunded }) => sum + refunded, 0) - this.returned;
  }

  use(points: number) {
    for (const grant of this.grants.filter(({ isUsable }) => isUsable)) {
      const part = Math.min(points, grant.points_remaining);
      grant.points_remaining -= part;
      this.used += part;
      points -= part;
    }
  }

  settleVoids() {
    for (const grant of this.grants.filter(({ isVoiding }) => isVoiding)) {
      grant.refunded = grant.points_remaining;
      grant.points_remaining = 0;
      grant.isVoiding = false;
    }
  }

  /** Returns the shortfall, or undefined while a void isn't settled. */
  step(target: number): number | undefined {
    for (;;) {
      const step = nextStep({ target, taken: this.taken, holdings: this.grants });
      if (step.kind === 'wait') return undefined;
      if (step.kind === 'done') return step.shortfall;
      if (step.kind === 'return') {
        this.returned += step.points;
        this.grant(step.points);
      } else {
        for (const grant of this.grants.filter(({ credit_id }) => step.credit_ids.includes(credit_id))) {
          grant.isVoiding = true;
          grant.isUsable = false;
        }
      }
    }
  }
}

const PAID = 1_900;

/** What happens at Stripe, to the customer's points, and to our reading of it, in any order. */
const happenings = fc.array(
  fc.oneof(
    fc.record({ what: fc.constant('refund' as const), amount: fc.integer({ min: 1, max: PAID }) }),
    fc.record({ what: fc.constantFrom('fail', 'open', 'win', 'lose', 'read', 'settle') }),
    fc.record({ what: fc.constant('use' as const), amount: fc.integer({ min: 1, max: 5_000 }) }),
  ),
  { maxLength: 40 },
);

test('any order and number of readings ends the same, and nothing is taken twice', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), happenings, (points, all) => {
      const ledger = new Ledger(points);
      const money = { ...NOTHING, paid: PAID };
      const refunds: number[] = [];
      const read = () => {
        const { target } = targetOf(points, money);
        ledger.step(target);
        return target;
      };
      for (const one of all) {
        if (one.what === 'refund' && 'amount' in one && money.refunded + one.amount <= PAID) {
          refunds.push(one.amount);
          money.refunded += one.amount;
        }
        if (one.what === 'fail') money.refunded -= refunds.pop() ?? 0;
        if (one.what === 'open') money.isDisputed = true;
        if (one.what === 'win') money.isDisputed = false;
        if (one.what === 'lose' && money.isDisputed) {
          money.isDisputed = false;
          money.lost = PAID;
        }
        if (one.what === 'read') read();
        if (one.what === 'settle') ledger.settleVoids();
        if (one.what === 'use' && 'amount' in one) ledger.use(one.amount);
        expect(ledger.used + ledger.left + ledger.taken).toBe(points);
      }
      // Until nothing is to do any more, as the worker does.
      const target = read();
      ledger.settleVoids();
      read();
      ledger.settleVoids();
      const shortfall = ledger.step(target);
      expect(ledger.left).toBe(Math.max(0, points - ledger.used - target));
      expect(shortfall).toBe(Math.max(0, ledger.used + target - points));
    }),
    { numRuns: 2_000 },
  );
});
