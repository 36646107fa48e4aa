import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { accountMetric } from '../../../test/suite/metrics.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import { fates, report, reported, reporterCredentials } from '../../../test/suite/usage/usage-reports.ts';
import { allCounted, appendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';
import { ensurePartitions } from './partitions.ts';
import { monthBefore } from './months.ts';

let suite: AccountUnderTest;

const settings = {
  OPERATOR_CREDENTIALS: operatorCredentials,
  USAGE_REPORTER_CREDENTIALS: reporterCredentials,
  HOUSEKEEPING_INTERVAL_SEC: '1',
};

beforeAll(async () => {
  suite = await startAccount({ settings });
});

afterAll(async () => {
  await suite.close();
});

const nameOf = (month: Date) => `usage_hourly_${month.toISOString().slice(0, 7).replace('-', '_')}`;
const month = (before: number) => monthBefore(new Date(), before);

async function partitions(): Promise<string[]> {
  const { rows } = await suite.database.raw<{ rows: { name: string }[] }>(`
    SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'usage_hourly'::regclass ORDER BY name`);
  return rows.map(({ name }) => name);
}

/** Makes a month with a row in it, in one transaction: else it could go in between. */
async function useMonth(before: number, period_id: number): Promise<string> {
  const hour = month(before);
  await suite.database.transaction(async (transaction) => {
    await ensurePartitions(transaction, [hour.getTime()]);
    await transaction('usage_hourly').insert({
      hour,
      period_id,
      account_id: 1,
      application_id: 1,
      api_version: 'v1',
      points: 5,
      requests: 1,
      time_ms: 0,
      traffic_bytes: 0,
    });
  });
  return nameOf(hour);
}

test('the months to come are made ahead, without any usage', async () => {
  await waitFor(async () => (await partitions()).includes(nameOf(month(-2))));
  expect(await partitions()).toEqual(
    expect.arrayContaining([0, -1, -2].map((ahead) => nameOf(month(ahead)))),
  );
  await waitFor(async () => (await accountMetric(suite.account, 'tollgate_usage_months_ahead')) === 2);
});

test('months that are over go, by two replicas at once; the 14 before the present one stay, and so do totals', async () => {
  const replica = await startServiceProcess('account', suite.settings);
  try {
    await becomeReady(replica);
    const account_id = await insertAccount(suite.database);
    const period_id = await insertPeriod(suite.database, account_id, {
      started_at: month(17),
      ended_at: new Date(+month(13) - 1_000),
    });
    await suite
      .database('usage_totals')
      .insert({ period_id, points: 20, requests: 4, time_ms: 0, traffic_bytes: 0 });
    const kept = await useMonth(14, period_id);
    for (const before of [15, 16, 17]) await useMonth(before, period_id);
    await waitFor(async () => {
      const names = await partitions();
      return [15, 16, 17].every((before) => !names.includes(nameOf(month(before))));
    });
    expect(await partitions()).toContain(kept);
    expect(await suite.database('usage_hourly').where({ period_id })).toHaveLength(1);
    const dropped = await Promise.all(
      [suite.account, replica].map((one) => accountMetric(one, 'tollgate_usage_months_dropped_total')),
    );
    expect(dropped.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(3);
    const [row] = await suite.database('usage_hourly_kept').select<{ kept_from: Date }[]>();
    expect(row?.kept_from).toEqual(month(14));

    const check = await operatePath(suite.account, 'POST', '/private/usage-checks', { period_id });
    expect(check.body).toMatchObject({ checked: 0, beyond_retention: 1, differences: [] });
    const rebuild = await operatePath(suite.account, 'POST', '/private/usage-rebuilds', { period_id });
    expect([rebuild.status, rebuild.body['code']]).toEqual([409, 'usage_rows_dropped']);
    const totals = await suite.database('usage_totals').where({ period_id }).first<{ points: number }>();
    expect(totals.points).toBe(20);
    // What is reported late goes into the totals still, and into the month that is kept.
    const late = reported(account_id, { occurred_at: month(14).toISOString() });
    expect(fates(await report(suite.account, [late]))).toEqual(['counted']);
    const tooLate = reported(account_id, { occurred_at: new Date(+month(14) - 1).toISOString() });
    expect(fates(await report(suite.account, [tooLate]))).toEqual(['occurred_too_long_ago']);
  } finally {
    await replica.stop();
  }
});

test('somebody who reads for long is not waited for: usage is counted meanwhile, and the month goes afterwards', async () => {
  const payer_id = await insertAccount(suite.database);
  const period_id = await insertPeriod(suite.database, payer_id);
  const reader = await suite.database.transaction();
  try {
    await reader('usage_hourly').select().limit(1);
    const old = await useMonth(16, period_id);
    const failures = () => accountMetric(suite.account, 'tollgate_usage_retention_failures_total');
    const before = await failures();
    await waitFor(async () => (await failures()) > before);
    expect(await partitions()).toContain(old);
    await appendBatch(suite.store, [usageEvent({ payer_id, account_id: payer_id, period_id })]);
    await allCounted(suite);
    await reader.commit();
    await waitFor(async () => !(await partitions()).includes(old));
  } finally {
    if (!reader.isCompleted()) await reader.rollback();
  }
});

test('a retention of less than 14 months is refused at the start', async () => {
  const started = startServiceProcess('account', { ...suite.settings, USAGE_RETENTION_MONTHS: '13' });
  await expect(started).rejects.toThrow(/USAGE_RETENTION_MONTHS/);
});
