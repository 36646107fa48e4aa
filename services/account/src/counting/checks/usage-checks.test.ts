import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import {
  allCounted,
  appendBatch,
  countedUsage,
  sumOf,
  usageEvent,
} from '../../../test/suite/usage/usage-streams.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { OPERATOR_CREDENTIALS: operatorCredentials } });
});

afterAll(async () => {
  await suite.close();
});

const call = (path: string, body: unknown) => operatePath(suite.account, 'POST', path, body);

/** A period with usage of several hours and applications, all of it counted. */
async function usedPeriod() {
  const payer_id = await insertAccount(suite.database);
  const period_id = await insertPeriod(suite.database, payer_id);
  const event = (hours: number, application_id: number) =>
    usageEvent({
      payer_id,
      account_id: payer_id,
      period_id,
      application_id,
      at_ms: Date.now() - hours * 3_600_000,
    });
  const events = [event(0, 1), event(1, 1), event(1, 2), event(30, 2)];
  await appendBatch(suite.store, events);
  await allCounted(suite);
  return { payer_id, period_id, sums: sumOf(events) };
}

test('the totals equal the hourly rows, and a period without usage is equal too', async () => {
  const { period_id } = await usedPeriod();
  const unused = await insertPeriod(suite.database, await insertAccount(suite.database));
  for (const wanted of [{ period_id }, { period_id: unused }]) {
    const { status, body } = await call('/private/usage-checks', wanted);
    expect([status, body]).toEqual([
      200,
      {
        checked: 1,
        beyond_retention: 0,
        differences: [],
        next_cursor: null,
        out_of_range: [],
        recent_gaps: 0,
      },
    ]);
  }
  expect((await call('/private/usage-checks', { period_id: 999_999 })).status).toBe(404);
});

test('a check finds what was tampered with, and a rebuild sets it to the hourly rows and says so', async () => {
  const { period_id, sums } = await usedPeriod();
  await suite.database('usage_totals').where({ period_id }).update({ points: 7, traffic_bytes: 0 });
  const tampered = { ...sums, points: 7, traffic_bytes: 0 };
  const { body } = await call('/private/usage-checks', {});
  expect(body['differences']).toEqual([{ period_id, totals: tampered, hourly: sums }]);
  const rebuilt = await call('/private/usage-rebuilds', { period_id });
  expect([rebuilt.status, rebuilt.body]).toEqual([
    200,
    { period_id, totals_before: tampered, totals: sums, changed: true },
  ]);
  const again = await call('/private/usage-rebuilds', { period_id });
  expect(again.body).toMatchObject({ totals: sums, changed: false });
  await suite.database('usage_totals').where({ period_id }).delete();
  expect((await call('/private/usage-rebuilds', { period_id })).body).toMatchObject({
    totals: sums,
    changed: true,
  });
  const log = await suite.database('audit_log').where({ action: 'usage_rebuilt' });
  expect(log).toHaveLength(3);
});

test('checks of all periods go by pages', async () => {
  const account_id = await insertAccount(suite.database);
  const day = (month: number) => new Date(Date.UTC(1990, month, 1));
  for (let month = 0; month < 120; month += 1) {
    const ended_at = new Date(day(month + 1).getTime() - 1_000);
    await insertPeriod(suite.database, account_id, { started_at: day(month), ended_at });
  }
  const first = await call('/private/usage-checks', {});
  expect(first.body).toMatchObject({ checked: 100, differences: [] });
  const rest = await call('/private/usage-checks', { cursor: first.body['next_cursor'] });
  expect(rest.body['next_cursor']).toBeNull();
  const all = await suite.database('billing_periods').pluck('period_id');
  expect(Number(rest.body['checked']) + 100).toBe(all.length);
});

test('a rebuild waits for a count that is under way, and takes it in whole', async () => {
  const { payer_id, period_id, sums } = await usedPeriod();
  await suite.database('usage_totals').where({ period_id }).update({ points: 0 });
  // What the reader does: it holds the stream's position and adds to both.
  const count = await suite.database.transaction();
  const stream = usageStreamKey(usageShard(payer_id));
  await count('usage_stream_positions').where({ stream }).forUpdate().select();
  const [hour] = await count('usage_hourly')
    .where({ period_id })
    .limit(1)
    .select<Record<string, unknown>[]>();
  for (const [table, where] of [
    ['usage_totals', { period_id }],
    ['usage_hourly', hour ?? {}],
  ] as const) {
    await count(table).where(where).increment('points', 5);
  }
  const rebuilding = call('/private/usage-rebuilds', { period_id });
  await waitFor(async () => {
    const { rows } = await suite.database.raw<{ rows: unknown[] }>(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
         AND query LIKE '%usage_stream_positions%'`,
    );
    return rows.length === 1;
  });
  await count.commit();
  const totals = { ...sums, points: sums.points + 5 };
  expect((await rebuilding).body).toMatchObject({ totals_before: { ...totals, points: 5 }, totals });
  expect((await call('/private/usage-checks', { period_id })).body['differences']).toEqual([]);
});

test('usage that comes with rebuilds is counted once, in the totals as by the hour', async () => {
  const { payer_id, period_id, sums } = await usedPeriod();
  const event = usageEvent({ payer_id, account_id: payer_id, period_id });
  const rebuilding = async () => {
    for (let rebuilt = 0; rebuilt < 20; rebuilt += 1) {
      expect((await call('/private/usage-rebuilds', { period_id })).status).toBe(200);
    }
  };
  const sending = async () => {
    for (let sent = 0; sent < 40; sent += 1) await appendBatch(suite.store, [event]);
  };
  await Promise.all([rebuilding(), rebuilding(), sending()]);
  await allCounted(suite);
  const path = `/private/usage-snapshots/${String(period_id)}`;
  const snapshot = await getPrivate(suite.account, path);
  expect(await snapshot.json()).toMatchObject({
    points: sums.points + 40 * event.points,
    requests: sums.requests + 40,
  });
  const { totals, hourly } = await countedUsage(suite.database);
  expect(totals).toEqual(hourly);
});
