import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  USAGE_SHARD_COUNT,
  usageShard,
  usageSnapshotSchema,
  usageStreamKey,
} from '@tollgate/contracts/usage-stream';
import type { UsageSnapshot } from '@tollgate/contracts/usage-stream';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  insertAccount,
  insertApplication,
  insertPeriod,
  secondsFromNow,
} from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { allCounted, appendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount();
});

afterAll(async () => {
  await suite.close();
});

async function snapshotOf(periodId: number, spenders = ''): Promise<UsageSnapshot> {
  const response = await getPrivate(suite.account, `/private/usage-snapshots/${String(periodId)}${spenders}`);
  expect(response.status).toBe(200);
  return usageSnapshotSchema.strict().parse(await response.json());
}

describe('GET /private/usage-snapshots/{period_id}', () => {
  test("tells what is counted, and the last counted entry of the payer's stream", async () => {
    const payer_id = await insertAccount(suite.database);
    const period_id = await insertPeriod(suite.database, payer_id);
    const event = usageEvent({ payer_id, account_id: payer_id, period_id, time_ms: 1_500 });
    await appendBatch(suite.store, [event]);
    const lastId = await appendBatch(suite.store, [event, event]);
    await allCounted(suite);
    expect(await snapshotOf(period_id)).toEqual({
      period_id,
      payer_id,
      usage_lane: usageShard(payer_id),
      usage_lanes: USAGE_SHARD_COUNT,
      points: 9,
      requests: 3,
      time_ms: 4_500,
      traffic_bytes: 750,
      stream_position: lastId,
      usage_version: 0,
    });
  });

  test('also tells what an application and a member have spent, in the period and on the latest UTC days', async () => {
    const payer_id = await insertAccount(suite.database);
    const account_id = await insertAccount(suite.database);
    const { application_id } = await insertApplication(suite.database, account_id);
    const DAY_SEC = 86_400;
    const before = await insertPeriod(suite.database, payer_id, {
      started_at: secondsFromNow(-9 * DAY_SEC),
      ended_at: secondsFromNow(-5 * DAY_SEC),
    });
    const period_id = await insertPeriod(suite.database, payer_id, {
      started_at: secondsFromNow(-4 * DAY_SEC),
    });
    const own = await insertPeriod(suite.database, account_id);
    const nowMs = Date.now();
    const today = new Date(nowMs).toISOString().slice(0, 10);
    const noon = (daysAgo: number) => Date.parse(`${today}T12:00:00Z`) - daysAgo * DAY_SEC * 1_000;
    const event = { payer_id, account_id, period_id, application_id };
    await appendBatch(suite.store, [
      usageEvent({ ...event, points: 1, at_ms: nowMs }),
      usageEvent({ ...event, points: 2, at_ms: noon(1), api_version: 'v1' }),
      usageEvent({ ...event, points: 4, at_ms: noon(2) }),
      // Of the same payer, in an earlier period that a late call belongs to.
      usageEvent({ ...event, points: 8, at_ms: noon(1), period_id: before }),
      // Without an application, as another system reports it.
      usageEvent({ ...event, points: 16, at_ms: nowMs, application_id: 0 }),
      // Of another account.
      usageEvent({ ...event, points: 32, at_ms: nowMs, account_id: payer_id }),
    ]);
    // Paid by the account itself.
    await appendBatch(suite.store, [
      usageEvent({ ...event, points: 64, payer_id: account_id, period_id: own, at_ms: nowMs }),
    ]);
    await allCounted(suite);
    const days = (points: number) => [
      { day: new Date(noon(1)).toISOString().slice(0, 10), points: 10 },
      { day: today, points },
    ];
    const application = { points: 7, days: days(1) };
    const member = { points: 23, days: days(17) };
    const both = `?application_id=${String(application_id)}&account_id=${String(account_id)}`;
    expect((await snapshotOf(period_id, both)).budgets).toEqual({ application, member });
    expect((await snapshotOf(period_id, `?application_id=${String(application_id)}`)).budgets).toEqual({
      application,
    });
    expect((await snapshotOf(period_id, '?account_id=999999999')).budgets).toEqual({
      member: { points: 0, days: [] },
    });
    expect(await snapshotOf(period_id)).not.toHaveProperty('budgets');
    expect((await snapshotOf(own, `?account_id=${String(account_id)}`)).budgets?.member?.points).toBe(64);
  });

  test('a period without usage is zero, at the position of its stream', async () => {
    const payer_id = await insertAccount(suite.database);
    const period_id = await insertPeriod(suite.database, payer_id);
    expect(await snapshotOf(period_id)).toEqual({
      period_id,
      payer_id,
      usage_lane: usageShard(payer_id),
      usage_lanes: USAGE_SHARD_COUNT,
      points: 0,
      requests: 0,
      time_ms: 0,
      traffic_bytes: 0,
      stream_position: '0-0',
      usage_version: 0,
    });
  });

  test('a stream that nobody has read yet is at 0-0', async () => {
    const payer_id = await insertAccount(suite.database);
    const period_id = await insertPeriod(suite.database, payer_id);
    const stream = usageStreamKey(usageShard(payer_id));
    await suite.database('usage_stream_positions').where({ stream }).delete();
    expect((await snapshotOf(period_id)).stream_position).toBe('0-0');
    await suite.database('usage_stream_positions').insert({ stream, position: '0-0' });
  });

  test('an unknown period and an id that no period can have are 404', async () => {
    for (const id of ['999999999', '0', '-1', '01', '1.5', 'x', '9007199254740993', '99999999999999999999']) {
      const response = await getPrivate(suite.account, `/private/usage-snapshots/${id}`);
      expect([id, response.status]).toEqual([id, 404]);
      expect(await response.json()).toMatchObject({ code: 'not_found' });
    }
  });

  test('without the service credential it is 401', async () => {
    expect((await getPrivate(suite.account, '/private/usage-snapshots/1', {})).status).toBe(401);
  });
});
