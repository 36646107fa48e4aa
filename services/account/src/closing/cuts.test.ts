import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { USAGE_BATCH_FIELD, usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../test/suite/account-under-test.ts';
import {
  balanceOf,
  cutsResolved,
  grantNow,
  newPayer,
  settledOf,
  uncounted,
  use,
  voidNow,
} from '../../test/suite/credits.ts';
import type { Payer } from '../../test/suite/credits.ts';
import { insertGrant } from '../../test/suite/database/credits.ts';
import { insertAccount, secondsFromNow } from '../../test/suite/database/records.ts';
import { allCounted, usageBatch, usageEvent } from '../../test/suite/usage/usage-streams.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount();
});

afterAll(async () => {
  await suite.close();
});

/** As the entry of an earlier moment; entries of a stream must come in order. */
async function useAt(payer: Payer, points: number, at: Date, sequence = 0): Promise<void> {
  const key = usageStreamKey(usageShard(payer.payer_id));
  const batch = usageBatch([usageEvent({ ...payer, points, at_ms: at.getTime() })]);
  const id = `${String(at.getTime())}-${String(sequence)}`;
  await suite.store.xadd(key, id, USAGE_BATCH_FIELD, JSON.stringify(batch));
}

const after = (at: Date, ms: number) => new Date(at.getTime() + ms);

test('use before a grant is not taken from it, also if it is counted later', async () => {
  const payer = await newPayer(suite);
  await use(suite, payer, 13);
  const { credit_id } = await grantNow(suite, payer.account_id, { points: 100 });
  await cutsResolved(suite, payer.account_id);
  expect(await settledOf(suite, payer.period_id)).toMatchObject({ settled_points: 3, overuse_points: 3 });
  await use(suite, payer, 5);
  await allCounted(suite);
  await voidNow(suite, payer.account_id, credit_id);
  await cutsResolved(suite, payer.account_id);
  expect(await balanceOf(suite, credit_id)).toEqual({ points_remaining: 0, used: 5, expired: 0, voided: 95 });
  expect(await settledOf(suite, payer.period_id)).toMatchObject({ settled_points: 8, overuse_points: 3 });
});

test('an expiry parts usage to the millisecond, within what is counted at once', async () => {
  const payer = await newPayer(suite);
  const expires_at = secondsFromNow(-20);
  const credit_id = await uncounted(suite, payer.account_id, async (transaction) => {
    const times = { effective_at: secondsFromNow(-60), expires_at };
    const granted = await insertGrant(transaction, payer.account_id, { points: 100, ...times });
    await useAt(payer, 10, after(expires_at, -5_000));
    await useAt(payer, 7, after(expires_at, -1));
    await useAt(payer, 4, expires_at);
    await useAt(payer, 2, after(expires_at, 5_000));
    return granted;
  });
  await cutsResolved(suite, payer.account_id);
  expect(await balanceOf(suite, credit_id)).toEqual({ points_remaining: 0, used: 7, expired: 93, voided: 0 });
  expect(await settledOf(suite, payer.period_id)).toMatchObject({ settled_points: 7, overuse_points: 0 });
  const recorded = await suite
    .database('credit_cut_points')
    .where({ period_id: payer.period_id })
    .orderBy('at');
  expect(recorded).toMatchObject([{ points: 0 }, { at: expires_at, points: 17 }]);
});

test('a grant that begins later is used from that second on, after those that are used before it', async () => {
  const payer = await newPayer(suite);
  const begins = secondsFromNow(-30);
  const [first, second] = await uncounted(suite, payer.account_id, async (transaction) => {
    const made = await Promise.all([
      insertGrant(transaction, payer.account_id, { points: 5, effective_at: secondsFromNow(-60) }),
      insertGrant(transaction, payer.account_id, { points: 5, effective_at: begins, priority: 10 }),
      insertGrant(transaction, payer.account_id, { effective_at: secondsFromNow(-25), points: 50 }),
    ]);
    await useAt(payer, 12, after(begins, -1));
    await useAt(payer, 6, begins);
    return made;
  });
  await cutsResolved(suite, payer.account_id);
  expect(await balanceOf(suite, first)).toMatchObject({ points_remaining: 2, used: 3 });
  expect(await balanceOf(suite, second)).toMatchObject({ points_remaining: 0, used: 5 });
});

test("a grant that begins with its period counts in it from the period's first second on", async () => {
  const payer = await newPayer(suite);
  const { started_at } = await suite
    .database('billing_periods')
    .where({ period_id: payer.period_id })
    .first<{ started_at: Date }>();
  const credit_id = await uncounted(suite, payer.account_id, async (transaction) => {
    const made = await insertGrant(transaction, payer.account_id, { points: 100, effective_at: started_at });
    await useAt(payer, 13, started_at);
    return made;
  });
  await cutsResolved(suite, payer.account_id);
  await allCounted(suite);
  await voidNow(suite, payer.account_id, credit_id);
  await cutsResolved(suite, payer.account_id);
  expect(await balanceOf(suite, credit_id)).toMatchObject({ used: 3, voided: 97 });
  expect(await settledOf(suite, payer.period_id)).toMatchObject({ settled_points: 3, overuse_points: 0 });
});

describe('without any usage', () => {
  test('a grant expires, and a void takes effect', async () => {
    const payer = await newPayer(suite);
    const expired = await grantNow(suite, payer.account_id, { expires_at: secondsFromNow(2) });
    const voided = await grantNow(suite, payer.account_id, { points: 30 });
    await voidNow(suite, payer.account_id, voided.credit_id);
    await waitFor(async () => (await balanceOf(suite, expired.credit_id)).expired === 100);
    expect(await balanceOf(suite, voided.credit_id)).toMatchObject({ points_remaining: 0, voided: 30 });
    const rows = await suite.database('credit_grants').where({ credit_id: voided.credit_id });
    expect(rows).toMatchObject([{ points_voided: 30, voided_at: expect.any(Date) }]);
  });

  test('an account without a billing period has grants that expire', async () => {
    const account_id = await insertAccount(suite.database);
    const { credit_id } = await grantNow(suite, account_id, { expires_at: secondsFromNow(2) });
    await waitFor(async () => (await balanceOf(suite, credit_id)).expired === 100);
  });
});

test('a cut waits for usage before it that is not counted', async () => {
  const payer = await newPayer(suite);
  const expires_at = secondsFromNow(-20);
  const held = await suite.database.transaction();
  const stream = usageStreamKey(usageShard(payer.account_id));
  await held('usage_stream_positions').insert({ stream, position: '0-0' }).onConflict().ignore();
  await held('usage_stream_positions').where({ stream }).forUpdate().first();
  await useAt(payer, 12, after(expires_at, -1));
  const times = { effective_at: secondsFromNow(-60), expires_at };
  const credit_id = await insertGrant(suite.database, payer.account_id, times);
  const other = await insertAccount(suite.database);
  await insertGrant(suite.database, other, times);
  await cutsResolved(suite, other);
  // The one at which the grant began waits for nothing.
  await waitFor(async () => (await unresolved(suite.database, payer.account_id)) === 1);
  await held.commit();
  await cutsResolved(suite, payer.account_id);
  expect(await balanceOf(suite, credit_id)).toMatchObject({ used: 2, expired: 98 });
});

async function unresolved(database: Knex, account_id: number): Promise<number> {
  return (await database('credit_cuts').where({ account_id, resolved_at: null })).length;
}
