import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { REFUSAL_COUNTS_KEY } from '@tollgate/contracts/refused-call';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import { startAccount } from '../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../test/suite/account-under-test.ts';
import { insertAccount, insertApplication } from '../../test/suite/database/records.ts';
import { appendCounts, countBatch, refusalCount } from '../../test/suite/usage/refused-calls.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { HOUSEKEEPING_INTERVAL_SEC: '1' } });
});

afterAll(async () => {
  await suite.close();
});

async function counted(): Promise<void> {
  await waitFor(async () => (await suite.store.xlen(REFUSAL_COUNTS_KEY)) === 0);
}

const rowsOf = (account_id: number) =>
  suite
    .database<{ account_id: number; hour: Date; code: string; calls: number; last_at: Date }>(
      'refused_call_counts',
    )
    .where({ account_id })
    .orderBy(['hour', 'code']);

const sumOf = (rows: { calls: number }[]) => rows.reduce((sum, { calls }) => sum + calls, 0);

test('10,000 refusals a second are one row per code, application and hour, with the exact number', async () => {
  const account_id = await insertAccount(suite.database);
  const at = Date.parse('2026-11-20T12:59:59.000Z');
  const own = { account_id, payer_id: account_id, application_id: 5 };
  const gateway_id = randomUUID();
  await appendCounts(
    suite.store,
    ...Array.from({ length: 60 }, (_, second) =>
      countBatch([refusalCount({ ...own, calls: 10_000, last_at_ms: at - second * 1_000 })], {
        gateway_id,
        seq: second + 1,
      }),
    ),
    countBatch([refusalCount({ ...own, last_at_ms: at + 1_000 }), refusalCount({ ...own, code: 'broken' })]),
  );
  await counted();
  const rows = await rowsOf(account_id);
  expect(rows).toMatchObject([
    { code: 'points_limit_exceeded', calls: 600_000, application_id: 5, payer_id: account_id },
    { code: 'points_limit_exceeded', calls: 1 },
    { code: 'broken', calls: 1 },
  ]);
  expect(rows[0]?.last_at).toEqual(new Date(at));
});

test('a batch that comes again is counted once, also by two replicas at once', async () => {
  const replica = await startServiceProcess('account', suite.settings);
  try {
    await becomeReady(replica);
    const account_id = await insertAccount(suite.database);
    const gateways = [randomUUID(), randomUUID()];
    const batches = Array.from({ length: 300 }, (_, index) =>
      gateways.map((gateway_id) =>
        countBatch([refusalCount({ account_id, calls: 2 })], { gateway_id, seq: index + 1 }),
      ),
    ).flat();
    await Promise.all([appendCounts(suite.store, ...batches), appendCounts(suite.store, ...batches)]);
    await suite.store.xadd(REFUSAL_COUNTS_KEY, '*', 'counts', '{"gateway_id":"no"}');
    await counted();
    expect(sumOf(await rowsOf(account_id))).toBe(1_200);
  } finally {
    await replica.stop();
  }
});

test('a refused token counts for its application’s owner, and for nobody if there is none', async () => {
  const account_id = await insertAccount(suite.database);
  const { application_id, client_id } = await insertApplication(suite.database, account_id);
  const refused = refusalCount({ code: 'unauthorized', client_id, calls: 3 });
  await appendCounts(suite.store, countBatch([refused, { ...refused, client_id: randomUUID() }]));
  await counted();
  expect(await rowsOf(account_id)).toMatchObject([
    { code: 'unauthorized', calls: 3, application_id, payer_id: account_id },
  ]);
  expect(await suite.database('refused_call_counts').where({ account_id: 0 })).toEqual([]);
});

test('numbers go when their time is over', async () => {
  const account_id = await insertAccount(suite.database);
  const old = Date.now() - 31 * 86_400_000;
  await appendCounts(
    suite.store,
    countBatch([refusalCount({ account_id }), refusalCount({ account_id, last_at_ms: old })]),
  );
  await counted();
  await waitFor(async () => (await rowsOf(account_id)).length === 1);
});
