import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { usageShard, usageStreamKey, usageTrimmedKey } from '@tollgate/contracts/usage-stream';
import type { UsageBatch } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { accountMetric } from '../../../test/suite/metrics.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import { allCounted, countedUsage, sendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { OPERATOR_CREDENTIALS: operatorCredentials } });
});

afterAll(async () => {
  await suite.close();
});

/** A gateway process that writes to one stream, each batch one call of 3 points. */
async function newGateway() {
  const payer_id = await insertAccount(suite.database);
  const period_id = await insertPeriod(suite.database, payer_id);
  const event = usageEvent({ payer_id, account_id: payer_id, period_id });
  const gateway_id = randomUUID();
  const batch = (number: number, changed: Record<string, unknown> = {}): UsageBatch => {
    const batches = number - 1;
    const before = { batches, requests: batches, points: batches * 3, at_ms: Date.now() };
    return { gateway_id, seq: number * 10, before, events: [event], ...changed };
  };
  return {
    stream: usageStreamKey(usageShard(payer_id)),
    trimmed: usageTrimmedKey(usageShard(payer_id)),
    gateway_id,
    event,
    batch,
    send: async (...batches: UsageBatch[]) => {
      for (const one of batches) await sendBatch(suite.store, one);
      await allCounted(suite);
    },
  };
}

type Gap = Record<string, unknown> & { gap_id: number; cause: string };

async function gapsOf({ stream }: { stream: string }): Promise<Gap[]> {
  const path = `/private/usage-gaps?stream=${encodeURIComponent(stream)}`;
  const { status, body } = await operatePath(suite.account, 'GET', path);
  expect([status, body['next_cursor']]).toEqual([200, null]);
  return body['gaps'] as Gap[];
}

test('batches that never came are told of: how many, with how many calls and points', async () => {
  const gateway = await newGateway();
  const { batch, send, stream, gateway_id } = gateway;
  const metric = (of: string) => accountMetric(suite.account, `tollgate_usage_${of}_total`);
  const before = [await metric('gap_batches'), await metric('gap_calls'), await metric('gap_points')];
  await send(batch(1), batch(2), batch(6), batch(7));
  expect(await gapsOf(gateway)).toMatchObject([
    {
      cause: 'batches_missing',
      stream,
      gateway_id,
      first_batch: 3,
      last_batch: 5,
      batches: 3,
      requests: 3,
      points: 9,
      recovered: null,
      within_gap_id: null,
    },
  ]);
  const after = [await metric('gap_batches'), await metric('gap_calls'), await metric('gap_points')];
  expect(after.map((value, index) => value - (before[index] ?? 0))).toEqual([3, 3, 9]);
  const line = suite.account
    .logs()
    .split('\n')
    .find((text) => text.includes(gateway_id));
  expect(JSON.parse(line ?? '')).toMatchObject({ stream, requests: 3, points: 9 });
});

test('the first batches of a process are missed, too', async () => {
  const gateway = await newGateway();
  await gateway.send(gateway.batch(3));
  expect(await gapsOf(gateway)).toMatchObject([{ first_batch: 1, last_batch: 2, points: 6 }]);
});

test.each<[string, (gateway: Awaited<ReturnType<typeof newGateway>>) => Promise<void>]>([
  ['a batch that comes twice', ({ batch, send }) => send(batch(1), batch(2), batch(1), batch(2), batch(3))],
  [
    'an event that was set aside',
    ({ batch, send, event }) =>
      send(batch(1), batch(2, { events: [{ ...event, period_id: 987_654 }] }), batch(3)),
  ],
  [
    'a batch that states nothing that can be read, and what the next one states',
    ({ batch, send }) => send({ ...batch(4), before: 'much' as never }, batch(9)),
  ],
  [
    'a process that was silent until it was forgotten',
    ({ batch, send }) =>
      send(
        batch(5, { before: { batches: 4, requests: 4, points: 12, at_ms: Date.now() - 13.5 * 86_400_000 } }),
      ),
  ],
])('no gap is %s', async (_name, write) => {
  const gateway = await newGateway();
  await write(gateway);
  expect(await gapsOf(gateway)).toEqual([]);
});

test('what a batch states in a shape that can not be read costs it nothing else', async () => {
  const { batch, send } = await newGateway();
  const counted = async () => (await countedUsage(suite.database)).totals.requests;
  const before = await counted();
  await send({ ...batch(1), before: { batches: -1 } as never }, { ...batch(2), before: 'much' as never });
  expect((await counted()) - before).toBe(2);
});

test('a Redis that has lost its data is told of when account is back, and explains what is missing', async () => {
  const gateway = await newGateway();
  const { batch, send, stream, trimmed } = gateway;
  await send(batch(1));
  const reached = await suite.store.get(trimmed);
  await suite.account.stop();
  await sendBatch(suite.store, batch(2));
  await suite.store.del(stream, trimmed);
  await suite.account.restart();
  await waitFor(async () => (await gapsOf(gateway)).length === 1);
  expect(await gapsOf(gateway)).toMatchObject([
    { cause: 'redis_set_back', after_entry: reached, batches: null, points: null },
  ]);
  expect(suite.account.logs()).toContain('Redis has lost entries of a usage stream');
  await send(batch(3));
  const [missing, whole] = await gapsOf(gateway);
  expect(missing).toMatchObject({ cause: 'batches_missing', points: 3, within_gap_id: whole?.gap_id });
  // Told once.
  await suite.account.stop();
  await suite.account.restart();
  await send(batch(4));
  expect(await gapsOf(gateway)).toHaveLength(2);
});

test('a Redis that has gone back is found while account runs, without anything being written', async () => {
  const gateway = await newGateway();
  await gateway.send(gateway.batch(1));
  await waitFor(async () => (await suite.store.get(gateway.trimmed)) !== '0-0');
  await suite.store.set(gateway.trimmed, '1-1');
  await waitFor(async () => (await gapsOf(gateway)).length === 1);
  expect(await gapsOf(gateway)).toMatchObject([{ cause: 'redis_set_back' }]);
});

test('an unknown cause is refused, and a list goes by pages', async () => {
  const gateway = await newGateway();
  await gateway.send(...[2, 4, 6].map((number) => gateway.batch(number)));
  const get = (query: string) => operatePath(suite.account, 'GET', `/private/usage-gaps?${query}`);
  expect((await get('cause=moths')).status).toBe(400);
  const first = await get('limit=2&cause=batches_missing');
  expect(first.body['gaps']).toHaveLength(2);
  const next = await get(`limit=1&cursor=${String(first.body['next_cursor'])}`);
  expect(next.body['gaps']).toMatchObject([{ last_batch: 1 }]);
});
