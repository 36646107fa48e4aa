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
  await use(second, 100);
  await count(215);
  await settle({ settled_points: 205, overuse_points: 5, closed_at: new Date(), closed_points: 215 });
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

test('an account with a pack a day for ten years is checked, too', async () => {
  const { database } = suite;
  const account_id = await insertAccount(database);
  const period_id = await insertPeriod(database, account_id, { description: { points_limit: 10 } });
  const [days, taken] = [3_650, 100];
  const values = { account_id, period_id, days, taken };
  // Each is used up by the time at which the next one starts, which settles that.
  const day = `(SELECT n, date_trunc('day', now()) - (:days - n) * interval '1 day' AS at
    FROM generate_series(1, :days) AS n) AS day`;
  await database.transaction(async (transaction) => {
    await transaction.raw('SET LOCAL statement_timeout = 0');
    await transaction.raw(
      `INSERT INTO credit_grants (account_id, points, source, effective_at, usable_from, reporter, idempotency_key,
         content_hash)
       SELECT :account_id, :taken, 'purchase', at, at, 'operator:suite', 'day-' || n, repeat('h', 43) FROM ${day}`,
      values,
    );
    await transaction.raw(
      `INSERT INTO credit_movements (credit_id, account_id, from_ledger, to_ledger, points, reason, period_id, at, actor,
         created_at)
       SELECT credit_id, :account_id, source, target, points, reason, period, moved.at, 'suite',
         moved.at + late * interval '1 second'
       FROM (SELECT credit_id, usable_from, lead(usable_from) OVER (ORDER BY usable_from) AS used_by FROM credit_grants
         WHERE account_id = :account_id) AS granted
       CROSS JOIN LATERAL (VALUES ('issued', 'grant', CAST(:taken AS bigint), 'granted', NULL, usable_from, 0),
         ('grant', 'used', :taken, 'usage', CAST(:period_id AS bigint), used_by, 1)) AS moved (source, target, points, reason, period, at, late)
       WHERE moved.at IS NOT NULL ORDER BY moved.at + late * interval '1 second'`,
      values,
    );
    await transaction.raw(
      `INSERT INTO credit_cut_points (account_id, at, period_id, points)
       SELECT :account_id, at, :period_id, 10 + (n - 1) * :taken FROM ${day}`,
      values,
    );
  });
  const resolved_at = database.raw("at + interval '2 seconds'");
  await database('credit_cuts').where({ account_id }).update({ resolved_at });
  await database('period_credits').insert({ period_id, settled_points: (days - 1) * taken });
  // It takes 0.4 s where little else runs.
  expect(await check({ account_id })).toMatchObject({ differences: [] });
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

describe('usage up to a recorded instant differs', () => {
  /** The instant is that of a third grant, which starts there; by then the period had used so much. */
  async function newCut(points: number) {
    const payer = await newPayer();
    const { account_id, period_id, first } = payer;
    const { database } = suite;
    const at = secondsFromNow(-10);
    const take = (grant: typeof first, taken: number) =>
      insertMovement(database, grant, {
        from_ledger: 'grant',
        to_ledger: 'used',
        reason: 'usage',
        points: taken,
        period_id,
        at,
      });
    const resolve = async () => {
      await insertGrant(database, account_id, { effective_at: at, priority: 0 });
      await database('credit_cut_points').insert({ account_id, at, period_id, points });
      const resolved_at = database.raw('clock_timestamp()');
      await database('credit_cuts').where({ account_id, at }).update({ resolved_at });
    };
    return { ...payer, take, resolve };
  }

  const differenceOf = async (account_id: number) => (await check({ account_id })).differences;

  test('if it was taken as it was used, not', async () => {
    const { account_id, first, second, take, resolve, settle } = await newCut(115);
    await take(first, 100);
    await take(second, 5);
    await resolve();
    await settle({ settled_points: 105 });
    expect(await differenceOf(account_id)).toEqual([]);
  });

  test('if more was taken', async () => {
    const { account_id, period_id, first, take, resolve, settle } = await newCut(15);
    const movement_id = await take(first, 6);
    await resolve();
    await settle({ settled_points: 6 });
    const of = { account_id, period_id, movement_id, credit_id: first.credit_id };
    expect(await differenceOf(account_id)).toMatchObject([
      { ...of, fault: 'cut_points', expected: 5, found: 6 },
    ]);
  });

  test('if less was taken while a grant had points, though the period agrees with its movements', async () => {
    const { account_id, period_id, first, take, resolve, settle } = await newCut(15);
    const movement_id = await take(first, 3);
    await resolve();
    await settle({ settled_points: 5, overuse_points: 2 });
    const of = { account_id, period_id, movement_id, credit_id: first.credit_id };
    expect(await differenceOf(account_id)).toMatchObject([
      { ...of, fault: 'overuse', expected: 2, found: 0 },
    ]);
  });

  test('if nothing was settled there', async () => {
    const { account_id, period_id, first, resolve } = await newCut(15);
    await resolve();
    const of = { account_id, period_id, movement_id: null, credit_id: first.credit_id };
    expect(await differenceOf(account_id)).toMatchObject([
      { ...of, fault: 'overuse', expected: 5, found: 0 },
    ]);
  });

  test('if nothing was left, not: what grants do not cover is overuse', async () => {
    const { account_id, first, second, take, resolve, settle } = await newCut(300);
    await take(first, 100);
    await take(second, 100);
    await resolve();
    await settle({ settled_points: 290, overuse_points: 90 });
    expect(await differenceOf(account_id)).toEqual([]);
  });
});

test('a grant that kept points beyond its end, which was resolved, differs', async () => {
  const { database } = suite;
  const account_id = await insertAccount(database);
  const expires_at = secondsFromNow(-5);
  const credit_id = await insertGrant(database, account_id, { ...PAST, expires_at });
  await database('credit_cuts')
    .where({ account_id })
    .update({ resolved_at: database.raw('clock_timestamp()') });
  expect((await check({ account_id })).differences).toMatchObject([
    { fault: 'not_ended', movement_id: null, credit_id, expected: 0, found: 100 },
  ]);
});

test('an instant of a grant that is not recorded differs', async () => {
  const { database } = suite;
  const account_id = await insertAccount(database);
  const credit_id = await insertGrant(database, account_id, PAST);
  await database('credit_cuts').where({ account_id }).delete();
  expect((await check({ account_id })).differences).toMatchObject([{ fault: 'cut_missing', credit_id }]);
});

test('a closed period with overuse differs if a grant that it could use has points left ever since', async () => {
  const { account_id, period_id, first, use, settle, count } = await newPayer();
  const ended_at = secondsFromNow(-1);
  await suite.database('billing_periods').where({ period_id }).update({ ended_at });
  await use(first, 3);
  await count(15);
  const closed_at = suite.database.raw('clock_timestamp()');
  await settle({ settled_points: 5, overuse_points: 2, closed_at, closed_points: 15 });
  expect((await check({ account_id })).differences).toMatchObject([
    { fault: 'overuse', movement_id: null, credit_id: first.credit_id, period_id, expected: 0, found: 2 },
  ]);
});

test('a closed period differs, too, if that grant started after its end, and only later use was left to settle', async () => {
  const { database } = suite;
  const account_id = await insertAccount(database);
  const times = { started_at: secondsFromNow(-300), ended_at: secondsFromNow(-200) };
  const period_id = await insertPeriod(database, account_id, { ...times, description: { points_limit: 10 } });
  const credit_id = await insertGrant(database, account_id, PAST);
  const now = database.raw('clock_timestamp()');
  await database('credit_cuts').where({ account_id }).update({ resolved_at: now });
  await database('usage_totals').insert({ period_id, points: 15, requests: 1, time_ms: 0, traffic_bytes: 0 });
  await insertMovement(
    database,
    { account_id, credit_id },
    {
      from_ledger: 'grant',
      to_ledger: 'used',
      points: 3,
      period_id,
      reason: 'period_closed',
      at: times.ended_at,
    },
  );
  await database('period_credits').insert({
    period_id,
    settled_points: 5,
    overuse_points: 2,
    closed_at: now,
    closed_points: 15,
  });
  expect((await check({ account_id })).differences).toMatchObject([
    { fault: 'overuse', movement_id: null, credit_id, period_id, expected: 0, found: 2 },
  ]);
});

test('all accounts with grants are checked, by pages', async () => {
  const { database } = suite;
  for (let made = 0; made < 101; made += 1) await insertGrant(database, await insertAccount(database));
  const first = await check({});
  expect([first.checked, first.next_cursor]).toEqual([100, expect.any(String)]);
  const second = await check({ cursor: first.next_cursor });
  expect([second.checked > 0, second.next_cursor]).toEqual([true, null]);
});
