import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createDatabase } from '@tollgate/testbed/database';
import type { Database } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import { insertAccount, insertPeriod, secondsFromNow } from '../../../test/suite/database/records.ts';
import { insertGrant, insertMovement } from '../../../test/suite/database/credits.ts';
import { singleRow } from '../../platform/database/single-row.ts';

/** What the database itself keeps true of credits, whichever program writes. */

let home: Database;
let database: Knex;

beforeAll(async () => {
  home = await createDatabase();
  database = openSuiteDatabase(home.url);
});

afterAll(async () => {
  await database.destroy();
  await home.drop();
});

type Grant = { credit_id: number; account_id: number };

async function newGrant(changes: Parameters<typeof insertGrant>[2] = {}): Promise<Grant> {
  const account_id = await insertAccount(database);
  return { account_id, credit_id: await insertGrant(database, account_id, changes) };
}

async function remaining({ credit_id }: Grant): Promise<number> {
  const rows = await database('credit_grants').where({ credit_id }).pluck<number[]>('points_remaining');
  return singleRow(rows);
}

describe('a movement', () => {
  test.each([
    ['updated', "UPDATE credit_movements SET points = 1, reason = 'x'"],
    ['deleted', 'DELETE FROM credit_movements'],
    ['truncated', 'TRUNCATE credit_movements'],
  ])("can't be %s", async (_how, sql) => {
    await newGrant();
    await expect(database.raw(sql)).rejects.toThrow('credit_movements is append-only');
  });

  test('changes what is left of its grant', async () => {
    const grant = await newGrant({ points: 100 });
    expect(await remaining(grant)).toBe(100);
    await insertMovement(database, grant, { from_ledger: 'grant', to_ledger: 'expired', points: 30 });
    expect(await remaining(grant)).toBe(70);
  });

  test("can't take more than is left, also if two take at once", async () => {
    const grant = await newGrant({ points: 100 });
    const more = insertMovement(database, grant, { from_ledger: 'grant', to_ledger: 'voided', points: 101 });
    await expect(more).rejects.toMatchObject({ constraint: 'credit_grants_balance' });
    const outcomes = await Promise.allSettled(
      [60, 60].map((points) =>
        insertMovement(database, grant, { from_ledger: 'grant', to_ledger: 'voided', points }),
      ),
    );
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await remaining(grant)).toBe(40);
  });

  test.each([
    ['issued', 'used'],
    ['used', 'expired'],
    ['grant', 'issued'],
    ['grant', 'grant'],
    ['grant', 'elsewhere'],
  ])("can't go from %s to %s", async (from_ledger, to_ledger) => {
    const grant = await newGrant();
    const period_id = [from_ledger, to_ledger].includes('used') ? 1 : null;
    const wrong = insertMovement(database, grant, { from_ledger, to_ledger, points: 1, period_id });
    await expect(wrong).rejects.toMatchObject({ constraint: 'credit_movements_ledgers' });
  });

  test('issues the points of a grant only once', async () => {
    const grant = await newGrant({ points: 100 });
    await insertMovement(database, grant, { from_ledger: 'grant', to_ledger: 'expired', points: 100 });
    const again = insertMovement(database, grant, { from_ledger: 'issued', to_ledger: 'grant', points: 100 });
    await expect(again).rejects.toMatchObject({ constraint: 'credit_movements_issued_key' });
  });

  test("can't be booked on another account's grant", async () => {
    const { credit_id } = await newGrant();
    const foreign = { credit_id, account_id: await insertAccount(database) };
    const wrong = insertMovement(database, foreign, {
      from_ledger: 'grant',
      to_ledger: 'expired',
      points: 1,
    });
    await expect(wrong).rejects.toMatchObject({ constraint: 'credit_movements_grant' });
  });

  test('brings back what another one took, and no more than that', async () => {
    const grant = await newGrant({ points: 100 });
    const period_id = await insertPeriod(database, grant.account_id);
    const used = { from_ledger: 'grant', to_ledger: 'used', period_id };
    const corrects_movement_id = await insertMovement(database, grant, { ...used, points: 50 });
    const back = { from_ledger: 'used', to_ledger: 'grant', period_id, corrects_movement_id };
    await insertMovement(database, grant, { ...back, points: 30 });
    await insertMovement(database, grant, { from_ledger: 'grant', to_ledger: 'expired', points: 40 });
    const tooMuch = insertMovement(database, grant, { ...back, points: 21 });
    await expect(tooMuch).rejects.toMatchObject({ constraint: 'credit_movements_corrected' });
    const otherPeriod = insertMovement(database, grant, { ...back, points: 1, period_id: period_id + 1 });
    await expect(otherPeriod).rejects.toMatchObject({ constraint: 'credit_movements_corrected' });
    const unnamed = insertMovement(database, grant, { ...back, points: 1, corrects_movement_id: null });
    await expect(unnamed).rejects.toMatchObject({ constraint: 'credit_movements_returns' });
    expect(await remaining(grant)).toBe(40);
  });
});

describe('a grant', () => {
  test.each([
    ['points', { points: 7 }],
    ['what is left', { points_remaining: 7 }],
    ['its expiry', { expires_at: secondsFromNow(99_999) }],
    ['its start', { effective_at: secondsFromNow(60) }],
    ['its priority', { priority: 1 }],
    ['its note', { note: 'another' }],
    ['its source', { source: 'purchase' }],
  ])("can't be edited: %s", async (_what, changes) => {
    const { credit_id } = await newGrant({ note: 'first' });
    await expect(database('credit_grants').where({ credit_id }).update(changes)).rejects.toThrow(
      'a grant is not edited',
    );
  });

  test("can't be deleted", async () => {
    await newGrant();
    await expect(database('credit_grants').delete()).rejects.toThrow('credit_grants is append-only');
  });

  test('can lose its note, as its account is erased', async () => {
    const { credit_id } = await newGrant({ note: 'for Ada' });
    await database('credit_grants').where({ credit_id }).update({ note: null });
  });

  test('is voided once', async () => {
    const { credit_id } = await newGrant();
    const grant = () => database('credit_grants').where({ credit_id });
    await grant().update({ void_requested_at: new Date(), void_to: 'voided' });
    await grant().update({ voided_at: new Date(), points_voided: 3 });
    for (const changes of [
      { void_requested_at: null, void_to: null, voided_at: null, points_voided: null },
      { void_requested_at: secondsFromNow(-9) },
      { points_voided: 4 },
    ]) {
      await expect(grant().update(changes)).rejects.toThrow('a grant is not edited');
    }
  });

  test.each([0, -1, 1.5, 2 ** 53])("can't be of %d points", async (points) => {
    await expect(newGrant({ points })).rejects.toThrow();
  });

  test('can be of 2^53 - 1 points', async () => {
    const points = Number.MAX_SAFE_INTEGER;
    expect(await remaining(await newGrant({ points }))).toBe(points);
  });

  test("can't be made without the movement that issues its points", async () => {
    const { account_id, credit_id } = await newGrant();
    const rows = await database('credit_grants').where({ credit_id }).select<Record<string, unknown>[]>();
    const { credit_id: _own, ...row } = singleRow(rows);
    const bare = { ...row, idempotency_key: 'bare', account_id };
    await expect(database('credit_grants').insert(bare)).rejects.toThrow(
      'a grant gets its points by a movement',
    );
    await expect(database('credit_grants').insert({ ...bare, points_remaining: 0 })).rejects.toThrow(
      'a grant gets its points by a movement',
    );
  });

  test('is unique for its idempotency key', async () => {
    const account_id = await insertAccount(database);
    await insertGrant(database, account_id, { idempotency_key: 'once' });
    await expect(insertGrant(database, account_id, { idempotency_key: 'once' })).rejects.toMatchObject({
      constraint: 'credit_grants_idempotency_key',
    });
  });

  test('cuts usage where it starts, expires and is voided', async () => {
    const [starts, expires] = [secondsFromNow(60), secondsFromNow(120)];
    const { account_id, credit_id } = await newGrant({ effective_at: starts, expires_at: expires });
    const cuts = () => database('credit_cuts').where({ account_id }).orderBy('at').pluck<Date[]>('at');
    expect(await cuts()).toEqual([starts, expires]);
    const voided = new Date(starts.getTime() + 1_234);
    await database('credit_grants')
      .where({ credit_id })
      .update({ void_requested_at: voided, void_to: 'voided' });
    expect(await cuts()).toEqual([starts, voided, expires]);
  });

  test('that starts at the instant of a settled cut cuts there again', async () => {
    const effective_at = secondsFromNow(60);
    const { account_id } = await newGrant({ effective_at });
    await database('credit_cuts').where({ account_id }).update({ resolved_at: new Date() });
    await insertGrant(database, account_id, { effective_at });
    expect(await database('credit_cuts').where({ account_id }).pluck('resolved_at')).toEqual([null]);
  });
});

describe('a change is announced to gateways', () => {
  test.each(['a grant', 'a movement', 'a void', 'a settled cut', 'a settled period'])(
    'by %s',
    async (what) => {
      const grant = await newGrant();
      const { account_id, credit_id } = grant;
      const period_id = await insertPeriod(database, account_id);
      const announced = () => database('entitlement_outbox').where({ account_id });
      if (what !== 'a grant') await announced().delete();
      if (what === 'a movement') {
        await insertMovement(database, grant, { from_ledger: 'grant', to_ledger: 'expired', points: 1 });
      }
      const voided = { void_requested_at: new Date(), void_to: 'voided' };
      if (what === 'a void') await database('credit_grants').where({ credit_id }).update(voided);
      if (what === 'a settled cut') {
        await database('credit_cuts').where({ account_id }).update({ resolved_at: new Date() });
      }
      if (what === 'a settled period')
        await database('period_credits').insert({ period_id, settled_points: 1 });
      expect(await announced()).not.toEqual([]);
    },
  );
});

test('usage of a closed period that changes its points is queued for correction, other usage is not', async () => {
  const account_id = await insertAccount(database);
  const from = (offset: number) => ({
    started_at: secondsFromNow(offset),
    ended_at: secondsFromNow(offset + 9),
  });
  const closed = await insertPeriod(database, account_id, from(-100));
  const open = await insertPeriod(database, account_id, from(-50));
  await database('period_credits').insert([
    { period_id: closed, closed_at: new Date(), closed_points: 5 },
    { period_id: open },
  ]);
  const counters = { points: 5, requests: 1, time_ms: 0, traffic_bytes: 0 };
  await database('usage_totals').insert([closed, open].map((period_id) => ({ period_id, ...counters })));
  const queued = () => database('credit_corrections').pluck<number[]>('period_id');
  expect(await queued()).toEqual([]);
  await database('usage_totals').update({ requests: 2 });
  expect(await queued()).toEqual([]);
  await database('usage_totals').update({ points: 6 });
  expect(await queued()).toEqual([closed]);
});
