import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { usageShard, usageSnapshotSchema, usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { UsageSnapshot } from '@tollgate/contracts/usage-stream';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { allCounted, appendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount();
});

afterAll(async () => {
  await suite.close();
});

async function snapshotOf(periodId: number): Promise<UsageSnapshot> {
  const response = await getPrivate(suite.account, `/private/usage-snapshots/${String(periodId)}`);
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
      points: 9,
      requests: 3,
      time_ms: 4_500,
      traffic_bytes: 750,
      stream_position: lastId,
      usage_version: 0,
    });
  });

  test('a period without usage is zero, at the position of its stream', async () => {
    const payer_id = await insertAccount(suite.database);
    const period_id = await insertPeriod(suite.database, payer_id);
    expect(await snapshotOf(period_id)).toEqual({
      period_id,
      payer_id,
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
