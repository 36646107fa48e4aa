import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { usageLiveKey, usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { copyDatabase, restoreDatabase } from '@tollgate/stack/database-copy';
import { waitFor } from '@tollgate/stack/wait-for';
import { countedUsage } from '../../../test/suite/records/billing-records.ts';
import { call } from '../../../test/suite/http-client.ts';
import { startRealServices } from '../../../test/suite/real-services.ts';
import type { Customer, RealServices } from '../../../test/suite/real-services.ts';
import { startServer } from '../../../test/suite/upstreams/server.ts';
import type { TestServer } from '../../../test/suite/upstreams/server.ts';

const POINTS = 7;

let upstream: TestServer;
let stack: RealServices;

beforeAll(async () => {
  upstream = await startServer((req, res) => {
    req.resume();
    res.writeHead(200, { 'x-points': String(POINTS) }).end('{}');
  });
  stack = await startRealServices({ gatewayEnv: { UPSTREAM_URL: `${upstream.url}/graphql` } });
});

afterAll(async () => {
  await stack.stop();
  await upstream.close();
});

async function query({ token }: Customer, gateway: 0 | 1 = 0): Promise<number> {
  const { status } = await call(`${stack.gateways[gateway].publicUrl}/graphql`, {
    headers: { authorization: `Bearer ${token}` },
    body: '{}',
  });
  return status;
}

/** Calls until `wanted` calls get 200; a 503 is tried again. */
async function answered(customer: Customer, wanted: number, gateway: 0 | 1 = 0): Promise<void> {
  for (let count = 0; count < wanted;) if ((await query(customer, gateway)) === 200) count += 1;
}

const pointsOf = async ({ periodId }: Customer) => {
  const { totals, hourly } = await countedUsage(stack.databaseUrl);
  expect(hourly.get(periodId)).toEqual(totals.get(periodId));
  return totals.get(periodId)?.points ?? 0;
};

type Gap = Record<string, unknown> & { stream: string; cause: string };

const gapsOf = async ({ accountId }: Customer): Promise<Gap[]> => {
  const { gaps } = await stack.operate('GET', '/private/usage-gaps?limit=200');
  return (gaps as Gap[]).filter(({ stream }) => stream === usageStreamKey(usageShard(accountId)));
};

const isSetBack = async (customer: Customer) =>
  (await gapsOf(customer).catch(() => [])).some(({ cause }) => cause === 'postgres_set_back');

test('usage in Redis lost while account was away: each call that is lost is told of, with its stream', async () => {
  const customer = await stack.newCustomer({ points_limit: 10_000 });
  await answered(customer, 3);
  await stack.allCounted();
  await stack.account.kill();
  await answered(customer, 12, 0);
  // The streams and their companions, but not the tokens.
  const keys = await stack.store.keys('{s*');
  await Promise.all(keys.map((key) => stack.store.del(key)));
  await stack.account.restart();
  await stack.ready(stack.account);
  await answered(customer, 1, 0);
  await stack.allCounted();
  expect(await pointsOf(customer)).toBe(4 * POINTS);
  const gaps = await gapsOf(customer);
  const whole = gaps.find(({ cause }) => cause === 'redis_set_back');
  const missing = gaps.filter(({ cause }) => cause === 'batches_missing');
  expect(missing).toMatchObject([
    { requests: 12, points: 12 * POINTS, within_gap_id: whole?.['gap_id'], gateway_id: expect.any(String) },
  ]);
  const stream = usageStreamKey(usageShard(customer.accountId));
  const told = stack.account
    .logs()
    .split('\n')
    .filter((line) => line.includes('batches of a gateway are missing'));
  expect(told).toHaveLength(1);
  expect(JSON.parse(told[0] ?? '')).toMatchObject({ stream, requests: 12, points: 12 * POINTS });
});

test('ids that were given after the backup are not given again', async () => {
  const before = await stack.newCustomer({ points_limit: 1_000 });
  await answered(before, 1);
  await stack.allCounted();
  await copyDatabase(stack.databaseUrl);
  const gone = await stack.newCustomer({ points_limit: 1_000 });
  await answered(before, 1);
  await answered(gone, 1);
  await stack.allCounted();
  await restoreDatabase(stack.databaseUrl);
  await waitFor(() => isSetBack(before), { timeoutMs: 20_000 });
  const next = await stack.newCustomer({ points_limit: 1_000 });
  expect(next.periodId).toBeGreaterThan(gone.periodId + 1_000);
  expect(next.accountId).toBeGreaterThan(gone.accountId + 1_000);
  await waitFor(async () => (await query(next)) === 200);
  await waitFor(async () => (await query(before)) === 200);
  await waitFor(async () => (await pointsOf(before)) === 3 * POINTS);
});

test('Postgres restored from a backup: calls go on, within their limits, and nothing is lost', async () => {
  const limit = 60 * POINTS;
  const [busy, idle, unused] = await Promise.all([
    stack.newCustomer({ points_limit: limit }),
    stack.newCustomer({ points_limit: limit }),
    stack.newCustomer({ points_limit: limit }),
  ]);
  await answered(busy, 5);
  await answered(idle, 5);
  await stack.allCounted();
  await copyDatabase(stack.databaseUrl);
  await Promise.all([answered(busy, 20, 0), answered(busy, 10, 1), answered(idle, 15)]);
  const reported = { account_id: busy.accountId, api_version: 'v1', points: POINTS, requests: 1 };
  await stack.operate('POST', '/private/usage-reports', {
    events: [
      {
        ...{ ...reported, time_ms: 0, traffic_bytes: 2 },
        ...{ idempotency_key: randomUUID(), occurred_at: new Date().toISOString() },
      },
    ],
  });
  await stack.allCounted();
  expect(await pointsOf(busy)).toBe(36 * POINTS);
  const live = usageLiveKey(usageShard(busy.accountId), busy.periodId);
  await waitFor(async () => Number(await stack.store.hget(live, 'points')) === 36 * POINTS);
  await restoreDatabase(stack.databaseUrl);

  const stream = usageStreamKey(usageShard(busy.accountId));
  await waitFor(() => isSetBack(busy), { timeoutMs: 20_000 });
  expect(await pointsOf(busy)).toBe(36 * POINTS);
  await waitFor(async () => (await pointsOf(idle)) === 20 * POINTS);
  expect(stack.account.logs()).toContain('Postgres has been restored to an earlier state');

  // Exact, even for payers whose live counters are rebuilt from the restored Postgres.
  await waitFor(async () => (await query(unused)) === 200);
  await answered(busy, 24);
  await answered(idle, 40);
  for (const customer of [busy, idle]) {
    await waitFor(async () => {
      const status = await query(customer);
      expect([402, 503]).toContain(status);
      return status === 402;
    });
  }
  await stack.allCounted();
  expect([await pointsOf(busy), await pointsOf(idle)]).toEqual([limit, limit]);
  const gaps = await gapsOf(busy);
  const whole = gaps.find(({ cause }) => cause === 'postgres_set_back');
  expect(whole).toMatchObject({ stream, recovered: { points: 31 * POINTS, requests: 31 } });
  for (const gap of gaps.filter(
    ({ cause, points }) => cause === 'batches_missing' && points !== 12 * POINTS,
  )) {
    expect(gap['within_gap_id']).toBe(whole?.['gap_id']);
  }
  const check = await stack.operate('POST', '/private/usage-checks', {});
  expect(check).toMatchObject({ differences: [] });
  expect(Number(check['recent_gaps'])).toBeGreaterThan(0);
});

test('Postgres restored while the live counters are gone: what is lost is told to the point', async () => {
  const customer = await stack.newCustomer({ points_limit: 10_000 });
  await answered(customer, 5);
  await stack.allCounted();
  await copyDatabase(stack.databaseUrl);
  await answered(customer, 10);
  await stack.allCounted();
  await restoreDatabase(stack.databaseUrl);
  await stack.store.del(usageLiveKey(usageShard(customer.accountId), customer.periodId));
  await answered(customer, 1);
  await stack.allCounted();
  const gaps = await gapsOf(customer);
  const whole = gaps.find(({ cause }) => cause === 'postgres_set_back');
  const missing = gaps.find(({ cause }) => cause === 'batches_missing');
  expect(whole).toMatchObject({ cause: 'postgres_set_back', recovered: { points: 0 } });
  expect(missing).toMatchObject({ cause: 'batches_missing', requests: 10, points: 10 * POINTS });
  expect(missing?.['within_gap_id']).toBe(whole?.['gap_id']);
  expect(await pointsOf(customer)).toBe(6 * POINTS);
});
