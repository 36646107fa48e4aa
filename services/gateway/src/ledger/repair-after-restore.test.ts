import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  usageLane,
  usageLiveKey,
  usageShard,
  usageStreamKey,
  usageTrimmedKey,
} from '@tollgate/contracts/usage-stream';
import { copyDatabase, restoreDatabase } from '@tollgate/stack/database-copy';
import { waitFor } from '@tollgate/stack/wait-for';
import { readLiveCounters } from '@tollgate/testbed/live-counters';
import { POINTS, startChargedServices } from '../../test/suite/charged-services.ts';
import type { ChargedServices } from '../../test/suite/charged-services.ts';
import type { Customer } from '../../test/suite/real-services.ts';

/** `tollgate usage repair` (docs/design/counting.md): what the usage reader can't detect or repair by itself. */

let stack: ChargedServices;

beforeAll(async () => {
  stack = await startChargedServices();
});

afterAll(() => stack.stop());

async function report({ accountId }: Customer): Promise<void> {
  const usage = { api_version: 'v1', points: POINTS, requests: 1, time_ms: 0, traffic_bytes: 2 };
  const event = { idempotency_key: randomUUID(), occurred_at: new Date().toISOString() };
  await stack.operate('POST', '/private/usage-reports', {
    events: [{ account_id: accountId, ...usage, ...event }],
  });
}

const repair = (options = {}) => stack.operate('POST', '/private/usage-repairs', options);

/** Postgres accepts connections again, and account uses them. */
const restored = () =>
  waitFor(async () => Boolean(await stack.operate('GET', '/private/usage-gaps').catch(() => false)));

test('a restore since which only reports came is repaired: the reports count, and new IDs are new', async () => {
  const customer = await stack.newCustomer({ points_limit: 10 * POINTS });
  await stack.answered(customer, 2);
  await stack.allCounted();
  await copyDatabase(stack.databaseUrl);
  await report(customer);
  const live = usageLiveKey(usageShard(customer.accountId), customer.periodId);
  await waitFor(async () => (await readLiveCounters(stack.store, live))?.points === 3 * POINTS);
  const gone = await stack.newCustomer({});
  await restoreDatabase(stack.databaseUrl);
  await restored();
  // No stream was trimmed since the backup, so the usage reader sees nothing unusual.
  expect(await stack.pointsOf(customer)).toBe(2 * POINTS);

  expect(await repair({ restored: true })).toMatchObject({
    checked_streams: 64,
    rolled_back_streams: [],
    repaired_periods: 1,
    recovered: { points: POINTS, requests: 1 },
    ids_skipped: true,
  });
  expect(await stack.pointsOf(customer)).toBe(3 * POINTS);
  const next = await stack.newCustomer({});
  expect(next.accountId).toBeGreaterThan(gone.accountId);
  expect(next.periodId).toBeGreaterThan(gone.periodId);
  expect(await repair()).toMatchObject({ repaired_periods: 0, recovered: { points: 0 }, ids_skipped: false });
  await stack.answered(customer, 7);
  expect(await stack.query(customer)).toBe(402);
});

test('a trimmed position in the future is reset, and the stream is counted again', async () => {
  const customer = await stack.newCustomer({ points_limit: 1_000 });
  await stack.answered(customer, 2);
  await stack.allCounted();
  // Left by a Redis whose clock was ahead, and met by a Postgres restored from before.
  await stack.store.set(
    usageTrimmedKey(usageLane(customer.accountId, 1)),
    `${String(Date.now() + 10 * 86_400_000)}-0`,
  );
  await stack.account.stop();
  await stack.account.restart();
  await stack.ready(stack.account);
  await waitFor(() => stack.account.logs().includes('run tollgate usage repair'));
  expect(await repair()).toMatchObject({
    reset_streams: [usageStreamKey(usageLane(customer.accountId, 1))],
    rolled_back_streams: [],
  });
  await stack.answered(customer, 3);
  await stack.allCounted();
  expect(await stack.pointsOf(customer)).toBe(5 * POINTS);
  expect(await repair()).toMatchObject({ reset_streams: [] });
});

test('beside calls and reports it changes nothing, however often it runs', async () => {
  const customers = await Promise.all([1, 2, 3].map(() => stack.newCustomer({ points_limit: 100_000 })));
  let isDone = false;
  const used = customers.map(async (customer) => {
    let points = 0;
    while (!isDone) {
      await Promise.all([stack.answered(customer, 5, 0), stack.answered(customer, 5, 1), report(customer)]);
      points += 11 * POINTS;
    }
    return points;
  });
  for (let times = 0; times < 3; times += 1) {
    expect(await repair()).toMatchObject({
      rolled_back_streams: [],
      repaired_periods: 0,
      recovered: { points: 0, requests: 0 },
    });
  }
  isDone = true;
  const points = await Promise.all(used);
  await stack.allCounted();
  expect(await Promise.all(customers.map(stack.pointsOf))).toEqual(points);
});

test('Postgres restored behind trimmed streams while it runs: each call is recovered once', async () => {
  const customer = await stack.newCustomer({ points_limit: 100_000 });
  await stack.answered(customer, 5);
  await stack.allCounted();
  await copyDatabase(stack.databaseUrl);
  await stack.answered(customer, 30);
  await stack.allCounted();
  await restoreDatabase(stack.databaseUrl);
  const calls = stack.answered(customer, 20, 1);
  // Several at once, beside the usage reader that finds the same.
  await waitFor(async () => {
    const outcomes = await Promise.all([repair(), repair(), repair()].map((each) => each.catch(() => null)));
    return outcomes.every((outcome) => outcome !== null);
  });
  await calls;
  await stack.allCounted();
  await waitFor(async () => (await stack.pointsOf(customer)) === 55 * POINTS);
  const { entries } = (await stack.operate('GET', '/private/audit-log?action=usage_repaired')) as {
    entries: { actor: string; details: { checked_streams: number } }[];
  };
  expect(entries[0]).toMatchObject({ actor: 'operator:testbed', details: { checked_streams: 64 } });
});

test('a body that it does not know is refused, and so is another credential', async () => {
  await expect(repair({ restored: 'yes' })).rejects.toThrow('400');
  const anonymous = await fetch(`${stack.account.privateUrl}/private/usage-repairs`, { method: 'POST' });
  expect(anonymous.status).toBe(401);
});
