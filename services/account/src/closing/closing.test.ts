import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady } from '@tollgate/testbed/service-process';
import { startAccount } from '../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../test/suite/account-under-test.ts';
import {
  balanceOf,
  cutsResolved,
  endPeriod,
  grantNow,
  newPayer,
  periodClosed,
  settledOf,
  use,
  voidNow,
} from '../../test/suite/credits.ts';
import type { Payer } from '../../test/suite/credits.ts';
import { insertAccount, insertPeriod, secondsFromNow } from '../../test/suite/database/records.ts';
import { operatePath, operatorCredentials } from '../../test/suite/operator.ts';
import { allCounted } from '../../test/suite/usage/usage-streams.ts';
import { createQuery } from '../platform/database/query.ts';
import { createCountedUntil } from './counted.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({
    settings: {
      CLOSING_DELAY_SEC: '0',
      HOUSEKEEPING_INTERVAL_SEC: '1',
      OPERATOR_CREDENTIALS: operatorCredentials,
    },
  });
});

afterAll(async () => {
  await suite.close();
});

async function closed(payer: Payer): Promise<void> {
  await endPeriod(suite, payer.period_id);
  await periodClosed(suite, payer.period_id);
}

/** Until the correction of a closed period's usage is done. */
async function corrected(payer: Payer, points: number): Promise<void> {
  await waitFor(async () => (await settledOf(suite, payer.period_id)).closed_points === points);
}

test('a period that has ended takes what it used above its included points from grants, once', async () => {
  const payer = await newPayer(suite);
  const { credit_id } = await grantNow(suite, payer.account_id, { points: 20 });
  await use(suite, payer, 17);
  await closed(payer);
  expect(await balanceOf(suite, credit_id)).toMatchObject({ points_remaining: 13, used: 7 });
  expect(await settledOf(suite, payer.period_id)).toEqual({
    settled_points: 7,
    overuse_points: 0,
    closed_points: 17,
  });
});

test('what no grant covers is overuse, and a later grant does not pay for it', async () => {
  const payer = await newPayer(suite);
  const { credit_id } = await grantNow(suite, payer.account_id, { points: 5 });
  await use(suite, payer, 18);
  await closed(payer);
  expect(await balanceOf(suite, credit_id)).toMatchObject({ points_remaining: 0, used: 5 });
  expect(await settledOf(suite, payer.period_id)).toMatchObject({ settled_points: 8, overuse_points: 3 });
  const later = await grantNow(suite, payer.account_id);
  await cutsResolved(suite, payer.account_id);
  expect(await balanceOf(suite, later.credit_id)).toMatchObject({ points_remaining: 100, used: 0 });
});

test('a plan that does not limit points uses no grants', async () => {
  const account_id = await insertAccount(suite.database);
  const period_id = await insertPeriod(suite.database, account_id, { description: {} });
  const payer = { account_id, payer_id: account_id, period_id };
  const { credit_id } = await grantNow(suite, account_id);
  await use(suite, payer, 1_000);
  await closed(payer);
  expect(await balanceOf(suite, credit_id)).toMatchObject({ points_remaining: 100, used: 0 });
});

test('a period stays open until its grace window ends or the next period begins', async () => {
  const payer = await newPayer(suite);
  await suite
    .database('billing_periods')
    .where({ period_id: payer.period_id })
    .update({ ended_at: secondsFromNow(-10) });
  const endsAt = async () => {
    const rows = await suite
      .database('period_closings')
      .where({ period_id: payer.period_id })
      .pluck<Date[]>('ends_at');
    return rows[0]?.getTime() ?? 0;
  };
  expect(await endsAt()).toBeGreaterThan(Date.now() + 86_400_000);
  const started_at = secondsFromNow(-5);
  await insertPeriod(suite.database, payer.account_id, { started_at, ended_at: secondsFromNow(3_600) });
  await periodClosed(suite, payer.period_id);
});

test('a period whose stream is not counted stays open, and others are closed', async () => {
  const payer = await newPayer(suite);
  const other = await newPayer(suite);
  const stream = usageStreamKey(usageShard(payer.account_id));
  const held = await suite.database.transaction();
  await held('usage_stream_positions').where({ stream }).forUpdate().first();
  await use(suite, payer, 12);
  await endPeriod(suite, payer.period_id);
  await closed(other);
  expect(await settledOf(suite, payer.period_id)).toMatchObject({ closed_points: null });
  await held.commit();
  await periodClosed(suite, payer.period_id);
  expect(await settledOf(suite, payer.period_id)).toMatchObject({ closed_points: 12, overuse_points: 2 });
});

describe('usage of a closed period that comes late', () => {
  test('is taken from what is left of the grants that were usable in the period', async () => {
    const payer = await newPayer(suite);
    const usable = await grantNow(suite, payer.account_id, { points: 5 });
    await use(suite, payer, 12);
    await closed(payer);
    const later = await grantNow(suite, payer.account_id, { points: 50, priority: 0 });
    await cutsResolved(suite, payer.account_id);
    await use(suite, payer, 9);
    await corrected(payer, 21);
    expect(await balanceOf(suite, usable.credit_id)).toMatchObject({ points_remaining: 0, used: 5 });
    expect(await balanceOf(suite, later.credit_id)).toMatchObject({ points_remaining: 50, used: 0 });
    expect(await settledOf(suite, payer.period_id)).toMatchObject({ settled_points: 11, overuse_points: 6 });
  });

  test('and turns out to be less is given back: overuse first, then the last grant, of which the ended expire', async () => {
    const payer = await newPayer(suite);
    const first = await grantNow(suite, payer.account_id, { points: 5, priority: 1 });
    const second = await grantNow(suite, payer.account_id, { points: 5, priority: 2 });
    await use(suite, payer, 22);
    await closed(payer);
    await voidNow(suite, payer.account_id, second.credit_id);
    await cutsResolved(suite, payer.account_id);
    const correctTo = async (points: number) => {
      await suite.database('usage_totals').where({ period_id: payer.period_id }).update({ points });
      await corrected(payer, points);
    };
    await correctTo(21);
    expect(await settledOf(suite, payer.period_id)).toMatchObject({ settled_points: 11, overuse_points: 1 });
    await correctTo(14);
    expect(await balanceOf(suite, first.credit_id)).toMatchObject({ points_remaining: 1, used: 4 });
    expect(await balanceOf(suite, second.credit_id)).toMatchObject({
      points_remaining: 0,
      used: 0,
      voided: 5,
    });
    await correctTo(16);
    expect(await balanceOf(suite, first.credit_id)).toMatchObject({ points_remaining: 0, used: 5 });
    expect(await settledOf(suite, payer.period_id)).toMatchObject({ settled_points: 6, overuse_points: 1 });
  });
});

test('after a restore of Postgres nothing is settled until the usage is repaired', async () => {
  const [payer, other] = [await newPayer(suite), await newPayer(suite)];
  await use(suite, payer, 12);
  await allCounted(suite);
  const stream = usageStreamKey(usageShard(payer.account_id));
  const countedUntil = ({ account_id }: Payer) =>
    createCountedUntil(createQuery(suite.database), suite.store)(account_id);
  expect(await countedUntil(payer)).toBeGreaterThan(0);
  await suite.account.stop();
  // As in a backup that was made before the usage was counted.
  await suite.database('usage_stream_positions').where({ stream }).update({ position: '1-1' });
  await suite.database('usage_stream_trims').where({ stream }).delete();
  for (const { period_id } of [payer, other]) await endPeriod(suite, period_id);
  expect(await countedUntil(payer)).toBe(0);
  expect(await countedUntil(other)).toBeGreaterThan(0);
  await suite.account.restart();
  await becomeReady(suite.account);
  await waitFor(async () => (await suite.database('usage_restores').where({ stream })).length === 1);
  expect([await countedUntil(payer), await countedUntil(other)]).toEqual([0, 0]);
  expect(await suite.database('period_closings').where({ period_id: payer.period_id })).toHaveLength(1);
  const repair = (body: object) => operatePath(suite.account, 'POST', '/private/usage-repairs', body);
  expect((await repair({})).status).toBe(200);
  expect(await countedUntil(payer)).toBe(0);
  expect((await repair({ restored: true })).status).toBe(200);
  for (const { period_id } of [payer, other]) await periodClosed(suite, period_id);
});

test('the background check names an account whose ledger differs, until it does not any more', async () => {
  const payer = await newPayer(suite);
  await grantNow(suite, payer.account_id);
  await cutsResolved(suite, payer.account_id);
  const differences = () =>
    suite.database('credit_differences').where({ account_id: payer.account_id }).pluck('fault');
  // Nothing was taken for it.
  const settled = suite.database('period_credits').where({ period_id: payer.period_id });
  await suite.database('period_credits').insert({ period_id: payer.period_id, settled_points: 5 });
  await waitFor(async () => (await differences()).join() === 'settled_points');
  await settled.delete();
  await waitFor(async () => (await differences()).length === 0);
});

test('account is killed -9 while it closes, and each period is closed once', async () => {
  const payers: Payer[] = [];
  for (let made = 0; made < 20; made += 1) payers.push(await newPayer(suite));
  const grants = await Promise.all(
    payers.map(({ account_id }) => grantNow(suite, account_id, { points: 20 })),
  );
  await Promise.all(payers.map((payer) => use(suite, payer, 15)));
  await allCounted(suite);
  // The queue's row is the last statement's: with the table locked, all is done and nothing committed.
  const gate = await suite.database.transaction();
  try {
    await gate.raw('LOCK TABLE period_credits IN EXCLUSIVE MODE');
    for (const { period_id } of payers) await endPeriod(suite, period_id);
    await waitFor(async () => {
      const { rows } = await suite.database.raw<{ rows: unknown[] }>(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INTO period_credits%'`,
      );
      return rows.length > 1;
    });
    await suite.account.kill();
  } finally {
    await gate.commit();
  }
  await suite.account.restart();
  await becomeReady(suite.account);
  for (const { period_id } of payers) await periodClosed(suite, period_id);
  for (const { credit_id } of grants) {
    expect(await balanceOf(suite, credit_id)).toMatchObject({ points_remaining: 15, used: 5 });
  }
});
