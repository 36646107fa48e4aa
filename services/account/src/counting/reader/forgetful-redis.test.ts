import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { usageShard, usageStreamKey, usageTrimmedKey } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { accountMetric } from '../../../test/suite/metrics.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import {
  allCounted,
  countedUsage,
  sendBatch,
  usageBatch,
  usageEvent,
} from '../../../test/suite/usage/usage-streams.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount();
});

afterAll(async () => {
  await suite.close();
});

beforeEach(async () => {
  await suite.database.raw('TRUNCATE usage_totals, usage_hourly, usage_unassigned');
});

async function newCall() {
  const payer_id = await insertAccount(suite.database);
  const event = usageEvent({
    payer_id,
    account_id: payer_id,
    period_id: await insertPeriod(suite.database, payer_id),
  });
  return { event, stream: usageStreamKey(usageShard(payer_id)), shard: usageShard(payer_id) };
}

const repeated = () => accountMetric(suite.account, 'tollgate_usage_reader_repeated_total');
const counted = async () => (await countedUsage(suite.database)).totals.requests;

test('a batch that is counted, forgotten by Redis and sent again is counted once', async () => {
  const { event, stream, shard } = await newCall();
  const before = await repeated();
  const [first, second, third] = [1, 2, 3].map(() => usageBatch([event, event])) as [never, never, never];
  await sendBatch(suite.store, first);
  await sendBatch(suite.store, second);
  await allCounted(suite);
  expect(await counted()).toBe(4);
  // A replica that had neither the stream nor what was said of it becomes the master.
  await suite.store.del(stream, usageTrimmedKey(shard));
  await sendBatch(suite.store, second);
  await sendBatch(suite.store, third);
  await allCounted(suite);
  expect(await counted()).toBe(6);
  expect((await countedUsage(suite.database)).hourly.requests).toBe(6);
  expect((await repeated()) - before).toBe(1);
});

test('a batch is counted once where both of its entries are read at the same time', async () => {
  const { event } = await newCall();
  await suite.account.stop();
  const batch = usageBatch([event]);
  for (let times = 0; times < 3; times += 1) await sendBatch(suite.store, batch);
  await suite.account.restart();
  await allCounted(suite);
  expect(await counted()).toBe(1);
});

test('another gateway process begins again at one, and its batches count', async () => {
  const { event } = await newCall();
  await sendBatch(suite.store, { gateway_id: 'before', seq: 7, events: [event] });
  await sendBatch(suite.store, { gateway_id: 'after', seq: 1, events: [event] });
  await allCounted(suite);
  expect(await counted()).toBe(2);
});

test('the same number in two streams is two batches', async () => {
  const [one, other] = [await newCall(), await newCall()];
  expect(one.stream).not.toBe(other.stream);
  for (const { event } of [one, other]) {
    await sendBatch(suite.store, { gateway_id: 'both', seq: 1, events: [event] });
  }
  await allCounted(suite);
  expect(await counted()).toBe(2);
});

test('a batch that Postgres refuses by its name is set aside, not counted and not in the way', async () => {
  const { event } = await newCall();
  await sendBatch(suite.store, { gateway_id: 'nul \0', seq: 1, events: [event] });
  await sendBatch(suite.store, { gateway_id: 'next', seq: 1, events: [event] });
  await allCounted(suite);
  expect(await counted()).toBe(1);
  expect(await suite.database('usage_unassigned').pluck('reason')).toEqual(['refused_by_database']);
});

test('what is kept of a gateway goes after two weeks without a batch, and no sooner', async () => {
  const days = (count: number) => suite.database.raw(`now() - interval '${String(count)} days'`);
  await suite.database('usage_gateway_sequences').insert([
    { stream: '{s1}:usage', gateway_id: 'gone', last_seq: 1, counted_at: days(15) },
    { stream: '{s1}:usage', gateway_id: 'silent', last_seq: 1, counted_at: days(13) },
  ]);
  await suite.account.stop();
  await suite.account.restart();
  const kept = () =>
    suite
      .database('usage_gateway_sequences')
      .whereIn('gateway_id', ['gone', 'silent'])
      .pluck<string[]>('gateway_id');
  await waitFor(async () => (await kept()).length === 1);
  expect(await kept()).toEqual(['silent']);
});

test('a stream whose ids have fallen behind is told of within seconds, and nothing is removed from it', async () => {
  const { event, stream } = await newCall();
  await sendBatch(suite.store, usageBatch([event]));
  await allCounted(suite);
  await suite.store.del(stream);
  await suite.store.xadd(stream, '1-1', 'batch', JSON.stringify(usageBatch([event])));
  const behind = () => accountMetric(suite.account, 'tollgate_usage_reader_streams_behind');
  await waitFor(async () => (await behind()) === 1);
  expect(suite.account.logs()).toContain('the ids of a usage stream are behind its counted position');
  expect(await suite.store.xlen(stream)).toBe(1);
  await suite.store.del(stream);
  await waitFor(async () => (await behind()) === 0);
});
