import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { done } from '../../../test/suite/billing.ts';
import { cutsResolved, newPayer, use } from '../../../test/suite/credits.ts';
import { grantTo } from '../../../test/suite/granting.ts';
import type { ShownCredit } from '../../../test/suite/granting.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { OPERATOR_CREDENTIALS: operatorCredentials } });
});

afterAll(() => suite.close());

const transfer = (credit_id: number, account_id: number) =>
  operatePath(suite.account, 'POST', `/private/credits/${String(credit_id)}/transfer`, { account_id });

const listed = async (account_id: number) =>
  (
    await done<{ credits: ShownCredit[] }>(
      suite.account,
      'GET',
      `/private/credits?account_id=${String(account_id)}`,
    )
  ).credits;

const PURCHASE = { source: 'purchase', expires_at: '2099-01-01T00:00:00Z', priority: 20 };

test('what is left of a purchase moves to the other account once, until the same time', async () => {
  const [from, to] = [await newPayer(suite), await newPayer(suite)];
  const { credit_id } = await grantTo(suite.account, from.account_id, PURCHASE);
  await use(suite, from, 10 + 32);
  const first = await transfer(credit_id, to.account_id);
  expect([first.status, first.body]).toMatchObject([200, { transfer_to: to.account_id }]);
  await cutsResolved(suite, from.account_id);
  expect(await listed(from.account_id)).toMatchObject([
    { status: 'void', points_remaining: 0, points_voided: 68 },
  ]);
  const granted = { points: 68, points_remaining: 68, ...PURCHASE, expires_at: '2099-01-01T00:00:00.000Z' };
  expect(await listed(to.account_id)).toMatchObject([granted]);
  const again = await transfer(credit_id, to.account_id);
  expect([again.status, again.body]).toMatchObject([200, { credit_id, status: 'void' }]);
  expect(await listed(to.account_id)).toHaveLength(1);
  for (const { account_id } of [from, to]) {
    const check = await done(suite.account, 'POST', '/private/credit-checks', { account_id });
    expect(check).toMatchObject({ checked: 1, differences: [] });
  }
});

describe('is refused, and changes nothing:', () => {
  test('points that were given, and what is void already', async () => {
    const [from, to, other] = [await newPayer(suite), await newPayer(suite), await newPayer(suite)];
    const given = await grantTo(suite.account, from.account_id, { source: 'compensation' });
    const bought = await grantTo(suite.account, from.account_id, PURCHASE);
    const refused = { code: 'credits_not_transferable' };
    const answer = await transfer(given.credit_id, to.account_id);
    expect([answer.status, answer.body]).toMatchObject([409, refused]);
    expect((await transfer(bought.credit_id, to.account_id)).status).toBe(200);
    const second = await transfer(bought.credit_id, other.account_id);
    expect([second.status, second.body]).toMatchObject([409, refused]);
    await cutsResolved(suite, from.account_id);
    expect(await listed(other.account_id)).toEqual([]);
    expect(await listed(from.account_id)).toMatchObject([
      { credit_id: bought.credit_id, status: 'void' },
      { credit_id: given.credit_id, status: 'active', points_remaining: 100 },
    ]);
  });

  test('the same account, and one that does not exist', async () => {
    const from = await newPayer(suite);
    const { credit_id } = await grantTo(suite.account, from.account_id, PURCHASE);
    for (const account_id of [from.account_id, 999_999_999]) {
      const answer = await transfer(credit_id, account_id);
      expect([answer.status, answer.body]).toMatchObject([400, { code: 'invalid_request' }]);
    }
    expect((await transfer(999_999_999, from.account_id)).status).toBe(404);
    expect(await listed(from.account_id)).toMatchObject([{ status: 'active', points_remaining: 100 }]);
  });
});
