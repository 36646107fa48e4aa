import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { usageLiveKey, usageShard } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { withClient } from '@tollgate/stack/postgres';
import { readLiveCounters, writeLiveCounters } from '@tollgate/testbed/live-counters';
import { countedUsage } from '../../test/suite/records/billing-records.ts';
import { call } from '../../test/suite/http-client.ts';
import { startRealServices } from '../../test/suite/real-services.ts';
import type { Customer, RealServices } from '../../test/suite/real-services.ts';
import { startServer } from '../../test/suite/upstreams/server.ts';
import type { TestServer } from '../../test/suite/upstreams/server.ts';

let upstream: TestServer;
let services: RealServices;

const COST = 10;

beforeAll(async () => {
  upstream = await startServer((req, res) => {
    req.resume();
    res.writeHead(200, { 'x-points': String(COST) }).end('{}');
  });
  services = await startRealServices({ gatewayEnv: { UPSTREAM_URL: `${upstream.url}/graphql` } });
});

afterAll(async () => {
  await services.stop();
  await upstream.close();
});

const query = (gateway: 0 | 1, { token }: Customer) =>
  call(`${services.gateways[gateway].publicUrl}/graphql`, {
    headers: { authorization: `Bearer ${token}` },
    body: '{}',
  });

const event = ({ accountId }: Customer, points: number) => ({
  idempotency_key: randomUUID(),
  account_id: accountId,
  api_version: 'v1',
  points,
  occurred_at: new Date().toISOString(),
  requests: 1,
  time_ms: 0,
  traffic_bytes: 0,
});

const report = (customer: Customer, points: number) =>
  services.operate('POST', '/private/usage-reports', { events: [event(customer, points)] });

const untilTold = () =>
  waitFor(() =>
    withClient(services.databaseUrl, async (client) => {
      const { rowCount } = await client.query('SELECT 1 FROM usage_refresh_outbox');
      return rowCount === 0;
    }),
  );

test('a report that uses up the points has the next call of any gateway refused', async () => {
  const customer = await services.newCustomer({ points_limit: 100 });
  expect((await query(0, customer)).headers['x-points-remaining']).toBe('90');
  await report(customer, 40);
  await untilTold();
  expect((await query(1, customer)).headers['x-points-remaining']).toBe('40');
  await report(customer, 40);
  await waitFor(async () => (await query(0, customer)).status === 402);
  expect((await query(1, customer)).status).toBe(402);
  await services.allCounted();
  const { usage } = (await services.usage(customer)).billing_period;
  expect(usage['points_usage']).toBeGreaterThanOrEqual(100);
});

test('a rebuild reaches the gateways, too', async () => {
  const customer = await services.newCustomer({ points_limit: 1_000 });
  expect((await query(0, customer)).headers['x-points-remaining']).toBe('990');
  await services.allCounted();
  const { periodId, accountId } = customer;
  // A failover can leave a batch in the live counters twice.
  const live = usageLiveKey(usageShard(accountId), periodId);
  const once = await readLiveCounters(services.store, live);
  if (once === null) throw new Error('there are no live counters');
  await writeLiveCounters(services.store, live, { ...once, points: once.points + COST });
  expect((await query(0, customer)).headers['x-points-remaining']).toBe('970');
  await services.operate('POST', '/private/usage-rebuilds', { period_id: periodId });
  await untilTold();
  expect((await query(1, customer)).headers['x-points-remaining']).toBe('970');
});

test('calls in flight, reports and rebuilds at once: the limit holds to the point, nothing is lost or twice', async () => {
  const limit = 1_000_000;
  const customer = await services.newCustomer({ points_limit: limit });
  let [answered, reportedPoints] = [0, 0];
  const over = new AbortController();
  const caller = async (gateway: 0 | 1) => {
    while (!over.signal.aborted) {
      if ((await query(gateway, customer)).status === 200) answered += 1;
    }
  };
  const reporter = async () => {
    for (let sent = 0; sent < 20; sent += 1) {
      await report(customer, 7);
      reportedPoints += 7;
    }
  };
  const rebuilder = async () => {
    for (let sent = 0; sent < 8; sent += 1) {
      await services.operate('POST', '/private/usage-rebuilds', { period_id: customer.periodId });
    }
  };
  const callers = [0, 1, 0, 1].map((gateway) => caller(gateway as 0 | 1));
  await Promise.all([reporter(), reporter(), rebuilder()]);
  over.abort();
  await Promise.all(callers);
  // Leaves points for three and a half calls.
  await report(customer, limit - answered * COST - reportedPoints - 35);
  await untilTold();
  const left = [];
  for (let sent = 0; sent < 5; sent += 1) {
    const { status, headers } = await query(0, customer);
    left.push(status === 200 ? headers['x-points-remaining'] : status);
  }
  expect(left).toEqual(['25', '15', '5', '0', 402]);
  await services.allCounted();
  const counted = (await countedUsage(services.databaseUrl)).totals.get(customer.periodId);
  expect(counted?.points).toBe(limit + 5);
});
