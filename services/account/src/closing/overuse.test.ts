import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { startAccount } from '../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../test/suite/account-under-test.ts';
import { done } from '../../test/suite/billing.ts';
import { balanceOf, cutsResolved, newPayer, settledOf, use } from '../../test/suite/credits.ts';
import { grantTo } from '../../test/suite/granting.ts';
import { operatorCredentials } from '../../test/suite/operator.ts';
import { allCounted } from '../../test/suite/usage/usage-streams.ts';
import { findCarriedOveruse } from '../billing/credits/holdings.ts';
import { payOveruse } from '../billing/credits/settlement.ts';
import { createQuery } from '../platform/database/query.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({
    settings: { CREDITS_OVERUSE: 'carry', OPERATOR_CREDENTIALS: operatorCredentials },
  });
});

afterAll(() => suite.close());

test('a purchase first pays the overuse of before, a promotion does not, and nothing is paid twice', async () => {
  const payer = await newPayer(suite);
  const { account_id, period_id } = payer;
  const grant = async (source: string, points: number) => {
    const { credit_id } = await grantTo(suite.account, account_id, { source, points });
    await cutsResolved(suite, account_id);
    return credit_id;
  };
  const carried = () => findCarriedOveruse(createQuery(suite.database), account_id);
  await use(suite, payer, 10 + 30);
  await allCounted(suite);
  const promotion = await grant('promotion', 100);
  expect(await balanceOf(suite, promotion)).toMatchObject({ points_remaining: 100, used: 0 });
  expect(await settledOf(suite, period_id)).toMatchObject({ settled_points: 30, overuse_points: 30 });
  expect(await carried()).toBe(30);
  const first = await grant('purchase', 20);
  expect(await balanceOf(suite, first)).toMatchObject({ points_remaining: 0, used: 20 });
  expect(await carried()).toBe(10);
  const second = await grant('purchase', 50);
  expect(await balanceOf(suite, second)).toMatchObject({ points_remaining: 40, used: 10 });
  expect(await settledOf(suite, period_id)).toMatchObject({ settled_points: 30, overuse_points: 0 });
  const third = await grant('purchase', 50);
  expect(await balanceOf(suite, third)).toMatchObject({ points_remaining: 50, used: 0 });
  const check = await done(suite.account, 'POST', '/private/credit-checks', { account_id });
  expect(check).toMatchObject({ checked: 1, differences: [] });
  const period = await done(suite.account, 'GET', `/private/periods/${String(period_id)}`);
  expect(period).toMatchObject({ overuse_points: 0 });
});

test('overuse is paid oldest first, at most what the purchase has and what is carried', () => {
  const count = fc.nat({ max: 20 });
  const period = fc.record({ carried_points: count, forgiven: count });
  fc.assert(
    fc.property(fc.array(period, { maxLength: 5 }), fc.nat({ max: 60 }), (list, points) => {
      const periods = list.map(({ carried_points, forgiven }, period_id) => ({
        period_id,
        carried_points,
        overuse_points: carried_points + forgiven,
      }));
      const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);
      const { paid, periods: changed } = payOveruse(periods, points);
      const total = sum(periods.map(({ carried_points }) => carried_points));
      expect(sum(paid.map((one) => one.points))).toBe(Math.min(points, total));
      for (const after of changed) {
        const before = periods[after.period_id];
        expect((before?.overuse_points ?? 0) - after.overuse_points).toBe(
          (before?.carried_points ?? 0) - after.carried_points,
        );
        expect(after.carried_points).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});
