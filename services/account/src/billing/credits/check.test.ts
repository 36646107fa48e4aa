import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { done } from '../../../test/suite/billing.ts';
import { insertGrant, insertMovement } from '../../../test/suite/database/credits.ts';
import { insertAccount, insertPeriod, secondsFromNow } from '../../../test/suite/database/records.ts';
import { operatorCredentials } from '../../../test/suite/operator.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({
    settings: { OPERATOR_CREDENTIALS: operatorCredentials, PROCESS_ROLE: 'api' },
  });
});

afterAll(() => suite.close());

type Check = { checked: number; differences: Record<string, unknown>[]; next_cursor: string | null };

const check = (body: Record<string, unknown>) =>
  done<Check>(suite.account, 'POST', '/private/credit-checks', body);

const PAST = { effective_at: secondsFromNow(-100) };

/** A payer whose plan includes 10 points, with a grant that is used first and another. */
async function newPayer() {
  const { database } = suite;
  const account_id = await insertAccount(database);
  const period_id = await insertPeriod(database, account_id, { description: { points_limit: 10 } });
  const first = { account_id, credit_id: await insertGrant(database, account_id, { ...PAST, priority: 1 }) };
  const second = { account_id, credit_id: await insertGrant(database, account_id, PAST) };
  const use = (grant: typeof first, points: number) =>
    insertMovement(database, grant, { from_ledger: 'grant', to_ledger: 'used', points, period_id });
  const settle = (changes: Record<string, unknown>) =>
    database('period_credits').insert({ period_id, ...changes });
  const count = (points: number) =>
    database('usage_totals').insert({ period_id, points, requests: 1, time_ms: 0, traffic_bytes: 0 });
  return { account_id, period_id, first, second, use, settle, count };
}

test('a ledger that agrees with its grants and periods has no difference', async () => {
  const { account_id, first, second, use, settle, count } = await newPayer();
  await use(first, 100);
  await use(second, 20);
  await count(135);
  await settle({ settled_points: 125, overuse_points: 5, closed_at: new Date(), closed_points: 135 });
  expect(await check({ account_id })).toEqual({ checked: 1, differences: [], next_cursor: null });
});

test('a closing needs no grant that started while it was made', async () => {
  const { account_id, period_id, first, settle } = await newPayer();
  await insertGrant(suite.database, account_id, { priority: 0 });
  const closing = { reason: 'period_closed', at: secondsFromNow(-10), period_id };
  await insertMovement(suite.database, first, {
    from_ledger: 'grant',
    to_ledger: 'used',
    points: 5,
    ...closing,
  });
  await settle({ settled_points: 5 });
  expect(await check({ account_id })).toMatchObject({ differences: [] });
});

describe('a difference names the first movement:', () => {
  test('usage taken from a later grant while an earlier one has points', async () => {
    const { account_id, period_id, first, second, use } = await newPayer();
    await use(first, 60);
    const movement_id = await use(second, 1);
    await use(first, 40);
    const { differences } = await check({ account_id });
    const of = { account_id, movement_id, credit_id: second.credit_id, period_id };
    expect(differences).toMatchObject([{ ...of, fault: 'order_of_use' }]);
  });

  test('usage taken before a grant could be used', async () => {
    const { account_id, use } = await newPayer();
    const times = { effective_at: secondsFromNow(3_600), priority: 0 };
    const credit_id = await insertGrant(suite.database, account_id, times);
    const movement_id = await use({ account_id, credit_id }, 3);
    const { differences } = await check({ account_id });
    expect(differences).toMatchObject([{ fault: 'not_usable', movement_id, credit_id }]);
  });

  test('a closed period in which other points are counted than were settled, unless a correction waits', async () => {
    const { account_id, period_id, first, use, settle, count } = await newPayer();
    await use(first, 5);
    await settle({ settled_points: 5, closed_at: new Date(), closed_points: 15 });
    await count(17);
    expect((await check({ account_id })).differences).toEqual([]);
    await suite.database('credit_corrections').where({ period_id }).delete();
    const of = { account_id, movement_id: null, period_id };
    expect((await check({ account_id })).differences).toMatchObject([
      { ...of, fault: 'counted_points', expected: 17, found: 15 },
    ]);
  });

  test('an expiry that leaves points', async () => {
    const { account_id, first } = await newPayer();
    const expiry = { from_ledger: 'grant', to_ledger: 'expired', points: 99 };
    const movement_id = await insertMovement(suite.database, first, expiry);
    expect((await check({ account_id })).differences).toMatchObject([{ fault: 'rest', movement_id }]);
  });

  test('a balance that something else than a movement has changed', async () => {
    const { account_id, first } = await newPayer();
    await suite.database.raw('ALTER TABLE credit_grants DISABLE TRIGGER credit_grants_not_edited');
    await suite
      .database('credit_grants')
      .where({ credit_id: first.credit_id })
      .update({ points_remaining: 70 });
    await suite.database.raw('ALTER TABLE credit_grants ENABLE TRIGGER credit_grants_not_edited');
    const { differences } = await check({ account_id });
    expect(differences).toMatchObject([{ fault: 'points_remaining', expected: 100, found: 70 }]);
  });
});

describe('a period differs', () => {
  test('whose settled points are not what was taken for it', async () => {
    const { account_id, period_id, first, use, settle } = await newPayer();
    await use(first, 8);
    await settle({ settled_points: 9 });
    const { differences } = await check({ account_id });
    expect(differences).toMatchObject([{ fault: 'settled_points', period_id, expected: 8, found: 9 }]);
  });

  test('that was closed with other points than it used', async () => {
    const { account_id, period_id, first, use, settle } = await newPayer();
    await use(first, 8);
    await settle({ settled_points: 8, closed_at: new Date(), closed_points: 19 });
    const { differences } = await check({ account_id });
    expect(differences).toMatchObject([{ fault: 'closed_points', period_id, expected: 9, found: 8 }]);
  });
});

test('all accounts with grants are checked, by pages', async () => {
  const { database } = suite;
  for (let made = 0; made < 101; made += 1) await insertGrant(database, await insertAccount(database));
  const first = await check({});
  expect([first.checked, first.next_cursor]).toEqual([100, expect.any(String)]);
  const second = await check({ cursor: first.next_cursor });
  expect([second.checked > 0, second.next_cursor]).toEqual([true, null]);
});
