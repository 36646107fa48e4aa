import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { usageLane, usageLiveKey, usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { copyDatabase, restoreDatabase } from '@tollgate/stack/database-copy';
import { waitFor } from '@tollgate/stack/wait-for';
import { readLiveCounters } from '@tollgate/testbed/live-counters';
import { POINTS, startChargedServices } from '../../test/suite/charged-services.ts';
import type { ChargedServices } from '../../test/suite/charged-services.ts';
import type { Customer } from '../../test/suite/real-services.ts';
import { untilStatus } from '../../test/suite/until-status.ts';

let stack: ChargedServices;

beforeAll(async () => {
  stack = await startChargedServices();
});

afterAll(() => stack.stop());

type Gap = Record<string, unknown> & { gap_id: number; stream: string; cause: string };

/** Of earlier tests: all customers have one stream. */
let known: ReadonlySet<number>;

async function allGaps(): Promise<Gap[]> {
  const { gaps } = await stack.operate('GET', '/private/usage-gaps?limit=200');
  return gaps as Gap[];
}

beforeEach(async () => {
  known = new Set((await allGaps()).map(({ gap_id }) => gap_id));
});

const gapsOf = async ({ accountId }: Customer): Promise<Gap[]> =>
  (await allGaps()).filter(
    ({ gap_id, stream }) => !known.has(gap_id) && stream === usageStreamKey(usageLane(accountId, 1)),
  );

const isSetBack = async (customer: Customer) =>
  (await gapsOf(customer).catch(() => [])).some(({ cause }) => cause === 'postgres_set_back');

test('usage in Redis lost while account was away: each call that is lost is told of, with its stream', async () => {
  const customer = await stack.newCustomer({ points_limit: 10_000 });
  await stack.answered(customer, 3);
  await stack.allCounted();
  await stack.account.kill();
  await stack.answered(customer, 12, 0);
  // The streams and their companions, but not the tokens.
  const keys = await stack.store.keys('{s*');
  await Promise.all(keys.map((key) => stack.store.del(key)));
  await stack.account.restart();
  await stack.ready(stack.account);
  await stack.answered(customer, 1, 0);
  await stack.allCounted();
  expect(await stack.pointsOf(customer)).toBe(4 * POINTS);
  const gaps = await gapsOf(customer);
  const whole = gaps.find(({ cause }) => cause === 'redis_set_back');
  const missing = gaps.filter(({ cause }) => cause === 'batches_missing');
  expect(missing).toMatchObject([
    { requests: 12, points: 12 * POINTS, within_gap_id: whole?.['gap_id'], gateway_id: expect.any(String) },
  ]);
  const stream = usageStreamKey(usageLane(customer.accountId, 1));
  const told = stack.account
    .logs()
    .split('\n')
    .filter((line) => line.includes('batches of a gateway are missing'));
  expect(told).toHaveLength(1);
  expect(JSON.parse(told[0] ?? '')).toMatchObject({ stream, requests: 12, points: 12 * POINTS });
});

test('ids that were given after the backup are not given again', async () => {
  const before = await stack.newCustomer({ points_limit: 1_000 });
  await stack.answered(before, 1);
  await stack.allCounted();
  await copyDatabase(stack.databaseUrl);
  const gone = await stack.newCustomer({ points_limit: 1_000 });
  await stack.answered(before, 1);
  await stack.answered(gone, 1);
  await stack.allCounted();
  await restoreDatabase(stack.databaseUrl);
  await waitFor(() => isSetBack(before));
  const next = await stack.newCustomer({ points_limit: 1_000 });
  expect(next.periodId).toBeGreaterThan(gone.periodId + 1_000);
  expect(next.accountId).toBeGreaterThan(gone.accountId + 1_000);
  await waitFor(async () => (await stack.query(next)) === 200);
  await waitFor(async () => (await stack.query(before)) === 200);
  await waitFor(async () => (await stack.pointsOf(before)) === 3 * POINTS);
});

test('Postgres restored from a backup: calls go on, within their limits, and nothing is lost', async () => {
  const limit = 60 * POINTS;
  const [busy, idle, unused] = await Promise.all([
    stack.newCustomer({ points_limit: limit }),
    stack.newCustomer({ points_limit: limit }),
    stack.newCustomer({ points_limit: limit }),
  ]);
  await stack.answered(busy, 5);
  await stack.answered(idle, 5);
  await stack.allCounted();
  await copyDatabase(stack.databaseUrl);
  await Promise.all([stack.answered(busy, 20, 0), stack.answered(busy, 10, 1), stack.answered(idle, 15)]);
  const reported = { account_id: busy.accountId, api_version: 'v1', points: POINTS, requests: 1 };
  await stack.operate('POST', '/private/usage-reports', {
    events: [
      {
        ...reported,
        time_ms: 0,
        traffic_bytes: 2,
        idempotency_key: randomUUID(),
        occurred_at: new Date().toISOString(),
      },
    ],
  });
  await stack.allCounted();
  expect(await stack.pointsOf(busy)).toBe(36 * POINTS);
  const live = usageLiveKey(usageShard(busy.accountId), busy.periodId);
  await waitFor(async () => (await readLiveCounters(stack.store, live))?.points === 36 * POINTS);
  await restoreDatabase(stack.databaseUrl);

  const stream = usageStreamKey(usageLane(busy.accountId, 1));
  await waitFor(() => isSetBack(busy));
  expect(await stack.pointsOf(busy)).toBe(36 * POINTS);
  await waitFor(async () => (await stack.pointsOf(idle)) === 20 * POINTS);
  expect(stack.account.logs()).toContain('Postgres has been restored to an earlier state');

  // Exact, even for payers whose live counters are rebuilt from the restored Postgres.
  await waitFor(async () => (await stack.query(unused)) === 200);
  await stack.answered(busy, 24);
  await stack.answered(idle, 40);
  for (const customer of [busy, idle]) await untilStatus(() => stack.query(customer), 402, [503]);
  await stack.allCounted();
  expect([await stack.pointsOf(busy), await stack.pointsOf(idle)]).toEqual([limit, limit]);
  const gaps = await gapsOf(busy);
  const whole = gaps.find(({ cause }) => cause === 'postgres_set_back');
  expect(whole).toMatchObject({ stream, recovered: { points: 46 * POINTS, requests: 46 } });
  for (const gap of gaps.filter(({ cause }) => cause === 'batches_missing')) {
    expect(gap['within_gap_id']).toBe(whole?.['gap_id']);
  }
  const check = await stack.operate('POST', '/private/usage-checks', {});
  expect(check).toMatchObject({ differences: [] });
  expect(Number(check['recent_gaps'])).toBeGreaterThan(0);
});

test('Postgres restored while the live counters are gone: what is lost is told to the point', async () => {
  const customer = await stack.newCustomer({ points_limit: 10_000 });
  await stack.answered(customer, 5);
  await stack.allCounted();
  await copyDatabase(stack.databaseUrl);
  await stack.answered(customer, 10);
  await stack.allCounted();
  // First: account adds what live counters know as soon as it sees the restored Postgres.
  await stack.store.del(usageLiveKey(usageShard(customer.accountId), customer.periodId));
  await restoreDatabase(stack.databaseUrl);
  await stack.answered(customer, 1);
  await stack.allCounted();
  const gaps = await gapsOf(customer);
  const whole = gaps.find(({ cause }) => cause === 'postgres_set_back');
  const missing = gaps.find(({ cause }) => cause === 'batches_missing');
  expect(whole).toMatchObject({ cause: 'postgres_set_back', recovered: { points: 0 } });
  expect(missing).toMatchObject({ cause: 'batches_missing', requests: 10, points: 10 * POINTS });
  expect(missing?.['within_gap_id']).toBe(whole?.['gap_id']);
  expect(await stack.pointsOf(customer)).toBe(6 * POINTS);
});
