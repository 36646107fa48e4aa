import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { entitlementSchema } from '@tollgate/contracts/entitlement';
import {
  USAGE_BATCH_FIELD,
  usageShard,
  usageSnapshotSchema,
  usageStreamKey,
} from '@tollgate/contracts/usage-stream';
import { startAccount } from '../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../test/suite/account-under-test.ts';
import { endPeriod, newPayer, periodClosed, settledOf } from '../../test/suite/credits.ts';
import type { Payer } from '../../test/suite/credits.ts';
import { getPrivate } from '../../test/suite/requests.ts';
import { allCounted, usageBatch, usageEvent } from '../../test/suite/usage/usage-streams.ts';
import { createQuery } from '../platform/database/query.ts';
import { createUsageLanes } from '../platform/usage-lanes.ts';

const STREAM = usageStreamKey(0);

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { USAGE_LANES: '1', CLOSING_DELAY_SEC: '0' } });
});

afterAll(async () => {
  await suite.close();
});

/** One batch of all these payers, 3 points each; returns the entry's id. */
function append(payers: readonly Payer[], stream = STREAM): Promise<string | null> {
  const batch = usageBatch(payers.map((payer) => usageEvent({ ...payer, points: 3 })));
  return suite.store.xadd(stream, '*', USAGE_BATCH_FIELD, JSON.stringify(batch));
}

async function snapshotOf({ period_id }: Payer) {
  const response = await getPrivate(suite.account, `/private/usage-snapshots/${String(period_id)}`);
  return usageSnapshotSchema.parse(await response.json());
}

test('a batch of payers of several shards counts for each, and snapshots state its lane and its position', async () => {
  const payers = [await newPayer(suite), await newPayer(suite), await newPayer(suite)];
  expect(new Set(payers.map(({ payer_id }) => usageShard(payer_id))).size).toBe(3);
  await append(payers);
  const last = await append(payers);
  await allCounted(suite);
  for (const payer of payers) {
    expect(await snapshotOf(payer)).toMatchObject({ points: 6, usage_lane: 0, stream_position: last });
    const answer = await getPrivate(suite.account, `/private/entitlements/${String(payer.account_id)}`);
    expect(entitlementSchema.parse(await answer.json()).billing_period?.usage_lane).toBe(0);
  }
});

test('what a gateway that knows no lanes writes to another stream is counted, too', async () => {
  const payer = await newPayer(suite);
  await append([payer], usageStreamKey(17));
  await allCounted(suite);
  expect((await snapshotOf(payer)).points).toBe(3);
});

test("no payer's period is closed before the lane is counted", async () => {
  const payers = [await newPayer(suite), await newPayer(suite)];
  const held = await suite.database.transaction();
  await held('usage_stream_positions').where({ stream: STREAM }).forUpdate().first();
  await append(payers);
  for (const { period_id } of payers) await endPeriod(suite, period_id);
  for (const { period_id } of payers) {
    expect(await settledOf(suite, period_id)).toMatchObject({ closed_points: null });
  }
  await held.commit();
  for (const { period_id } of payers) {
    await periodClosed(suite, period_id);
    expect(await settledOf(suite, period_id)).toMatchObject({ closed_points: 3 });
  }
});

test('settings that ask for fewer lanes, or for no multiple of those that there are, are refused', async () => {
  const transaction = await suite.database.transaction();
  const lanesOf = (setting: number | undefined, redisUrl = 'redis://redis:6379') =>
    createUsageLanes(createQuery(transaction), { setting, redisUrl })();
  try {
    expect(await lanesOf(undefined)).toBe(1);
    expect(await lanesOf(4)).toBe(1);
    await transaction('usage_lanes').update({ lanes: 4 });
    expect(await lanesOf(undefined)).toBe(4);
    expect(await lanesOf(4)).toBe(4);
    await expect(lanesOf(1)).rejects.toThrow('Set USAGE_LANES to 4 or such a multiple, or remove it.');
    await expect(lanesOf(6)).rejects.toThrow('Set USAGE_LANES to 4 or such a multiple, or remove it.');
    await expect(lanesOf(undefined, 'redis+cluster://redis:6379')).rejects.toThrow(
      'A Redis Cluster needs 64 lanes',
    );
  } finally {
    await transaction.rollback();
  }
});

test('without the setting, a first start has one lane, or 64 on a Redis Cluster', async () => {
  for (const [redisUrl, lanes] of [
    ['redis://redis:6379', 1],
    ['redis+sentinel://redis:26379/mymaster', 1],
    ['rediss+cluster://redis:6379', 64],
  ] as const) {
    const transaction = await suite.database.transaction();
    try {
      await transaction('usage_lanes').delete();
      const read = createUsageLanes(createQuery(transaction), { setting: undefined, redisUrl });
      expect(await read()).toBe(lanes);
    } finally {
      await transaction.rollback();
    }
  }
});
