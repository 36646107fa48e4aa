import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { usageLane, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { copyDatabase, restoreDatabase } from '@tollgate/stack/database-copy';
import { withClient } from '@tollgate/stack/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import { POINTS, startChargedServices } from '../../test/suite/charged-services.ts';
import type { ChargedServices } from '../../test/suite/charged-services.ts';
import type { Customer } from '../../test/suite/real-services.ts';
import { createSendBatch } from './record-script.ts';

/** Postgres restored from a backup of before lanes were added (docs/design/counting.md). */

let stack: ChargedServices;

beforeAll(async () => {
  stack = await startChargedServices();
});

afterAll(() => stack.stop());

/** Of one whose payer moves to another lane when there are twice as many. */
async function newMovingCustomer(lanes: number): Promise<Customer> {
  for (;;) {
    const customer = await stack.newCustomer({ points_limit: 100_000 });
    if (usageLane(customer.accountId, 2 * lanes) >= lanes) return customer;
  }
}

const haveGrown = (lanes: number) =>
  waitFor(() =>
    withClient(stack.databaseUrl, async (client) => {
      const { rowCount } = await client.query(
        'SELECT FROM usage_lanes WHERE lanes = $1 AND lanes_before IS NULL',
        [lanes],
      );
      return rowCount === 1;
    }).catch(() => false),
  );

/** By a replica of account with another setting, which then ends. */
async function addLanes(lanes: number): Promise<void> {
  const replica = await startServiceProcess('account', {
    REDIS_URL: stack.redis.url,
    DATABASE_URL: stack.databaseUrl,
    AUTH_PRIVATE_URL: stack.auth.privateUrl,
    USAGE_LANES: String(lanes),
  });
  await becomeReady(replica);
  await haveGrown(lanes);
  await replica.stop();
}

async function gapsOf(stream: string): Promise<unknown[]> {
  const path = `/private/usage-gaps?stream=${encodeURIComponent(stream)}`;
  const { gaps } = await stack.operate('GET', path).catch(() => ({ gaps: [] }));
  return gaps as unknown[];
}

test('what a payer had used in its former lane is recovered, though its new one has had nothing', async () => {
  const [moving, other] = [await newMovingCustomer(1), await newMovingCustomer(1)];
  await stack.answered(moving, 5);
  await stack.answered(other, 5);
  await stack.allCounted();
  await copyDatabase(stack.databaseUrl);
  await stack.answered(moving, 15);
  await stack.answered(other, 20);
  await stack.allCounted();
  await addLanes(2);
  await restoreDatabase(stack.databaseUrl);
  // Meanwhile calls go on, by one of them.
  await stack.answered(other, 10);
  await haveGrown(2);
  await stack.allCounted();
  expect([await stack.pointsOf(moving), await stack.pointsOf(other)]).toEqual([20 * POINTS, 35 * POINTS]);
  await stack.answered(moving, 1);
  await stack.allCounted();
  expect(await stack.pointsOf(moving)).toBe(21 * POINTS);
});

test('what could not be counted of the former lane is not taken for lost', async () => {
  const moving = await newMovingCustomer(2);
  const { accountId, periodId, applicationId } = moving;
  const lane = usageLane(accountId, 2);
  await stack.answered(moving, 2);
  const unreadable = {
    payer_id: accountId,
    period_id: periodId,
    account_id: accountId,
    application_id: applicationId,
    api_version: 'v2' as const,
    points: 3 * POINTS,
    requests: 3,
    time_ms: 0,
    traffic_bytes: 6,
    at_ms: Date.now() + 30 * 86_400_000,
  };
  const batch = { gateway_id: randomUUID(), seq: 1, events: [unreadable] };
  expect(await createSendBatch(stack.store)(lane, batch, [])).toMatchObject({ result: 'recorded' });
  await stack.allCounted();
  await copyDatabase(stack.databaseUrl);
  await addLanes(4);
  await stack.answered(moving, 4);
  await stack.allCounted();
  expect(await stack.pointsOf(moving)).toBe(6 * POINTS);
  await restoreDatabase(stack.databaseUrl);
  await waitFor(async () => (await gapsOf(usageStreamKey(usageLane(accountId, 4)))).length === 1);
  await haveGrown(4);
  expect(await stack.pointsOf(moving)).toBe(6 * POINTS);
});
