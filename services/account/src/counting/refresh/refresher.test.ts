import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { usageLiveKey, usageShard, usageVersionKey } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { readLiveCounters, writeLiveCounters } from '@tollgate/testbed/live-counters';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { accountMetric } from '../../../test/suite/metrics.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import { countedUsage } from '../../../test/suite/usage/usage-streams.ts';
import { fates, report, reported, reporterCredentials } from '../../../test/suite/usage/usage-reports.ts';
import { sessionsOf } from '../../../test/suite/database/sessions.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({
    settings: { OPERATOR_CREDENTIALS: operatorCredentials, USAGE_REPORTER_CREDENTIALS: reporterCredentials },
  });
});

afterAll(async () => {
  await suite.close();
});

beforeEach(async () => {
  await waitFor(async () => (await waiting()) === 0);
});

/** A payer whose live counters a gateway has built from nothing. */
async function payer() {
  const account_id = await insertAccount(suite.database);
  const period_id = await insertPeriod(suite.database, account_id);
  const live = usageLiveKey(usageShard(account_id), period_id);
  const none = { points: 0, requests: 0, time_ms: 0, traffic_bytes: 0 };
  await writeLiveCounters(suite.store, live, { usage_version: 0, ...none });
  return {
    account_id,
    period_id,
    live,
    told: usageVersionKey(usageShard(account_id), period_id),
    points: async () => (await readLiveCounters(suite.store, live))?.points,
  };
}

const waiting = async () => (await suite.database('usage_refresh_outbox').select()).length;

test('what is reported is in the live counters at once, and the row goes', async () => {
  const { account_id, period_id, points, told } = await payer();
  await report(suite.account, [reported(account_id), reported(account_id)]);
  await waitFor(async () => (await points()) === 6);
  await report(suite.account, [reported(account_id)]);
  await waitFor(async () => (await points()) === 9);
  await waitFor(async () => (await waiting()) === 0);
  const row = await suite.database('usage_totals').where({ period_id }).first<{ usage_version: number }>();
  expect(await suite.store.get(told)).toBe(String(row.usage_version));
  expect(await accountMetric(suite.account, 'tollgate_usage_refreshes_total')).toBeGreaterThanOrEqual(2);
});

test('a rebuild has them built anew, also where it found nothing to mend', async () => {
  const { account_id, period_id, live } = await payer();
  await report(suite.account, [reported(account_id)]);
  await waitFor(async () => (await waiting()) === 0);
  expect(await suite.store.exists(live)).toBe(1);
  const { status } = await operatePath(suite.account, 'POST', '/private/usage-rebuilds', { period_id });
  expect(status).toBe(200);
  await waitFor(async () => (await suite.store.exists(live)) === 0);
});

test('a report that comes while a rebuild is under way is in the totals as by the hour', async () => {
  const { account_id, period_id } = await payer();
  const reporting = async () => {
    for (let sent = 0; sent < 20; sent += 1) {
      expect(fates(await report(suite.account, [reported(account_id)]))).toEqual(['counted']);
    }
  };
  const rebuilding = async () => {
    for (let sent = 0; sent < 20; sent += 1) {
      const { status } = await operatePath(suite.account, 'POST', '/private/usage-rebuilds', { period_id });
      expect(status).toBe(200);
    }
  };
  await Promise.all([reporting(), rebuilding()]);
  const { totals, hourly } = await countedUsage(suite.database);
  expect(totals).toEqual(hourly);
  const row = await suite.database('usage_totals').where({ period_id }).first<{ points: number }>();
  expect(row.points).toBe(60);
});

test('killed -9 between the commit and Redis: its next start tells of it, once', async () => {
  const { account_id, points } = await payer();
  await suite.store.client('PAUSE', 1_500, 'WRITE');
  await report(suite.account, [reported(account_id)]);
  await waitFor(() =>
    sessionsOf(suite.database)
      .where({ state: 'idle in transaction' })
      .whereLike('query', '%DELETE FROM usage_refresh_outbox%')
      .first(),
  );
  await suite.account.kill();
  expect(await waiting()).toBe(1);
  await suite.account.restart();
  await waitFor(async () => (await waiting()) === 0);
  expect(await points()).toBe(3);
});

test('Redis away: reports are counted, wait to be told of, and are when it is back', async () => {
  const { account_id, period_id } = await payer();
  await suite.redis.kill();
  expect(fates(await report(suite.account, [reported(account_id)]))).toEqual(['counted']);
  await waitFor(
    async () => (await accountMetric(suite.account, 'tollgate_usage_refresh_outbox_pending')) === 1,
  );
  const row = await suite.database('usage_totals').where({ period_id }).first<{ points: number }>();
  expect(row.points).toBe(3);
  await suite.redis.restart();
  await waitFor(async () => (await waiting()) === 0);
  await waitFor(() =>
    suite.account.logs().includes('live counters are being updated with reported usage again'),
  );
});

test('two replicas that take the same reports at once, one killed -9: each event once', async () => {
  const replica = await startServiceProcess('account', suite.settings);
  try {
    await becomeReady(replica);
    const { account_id, period_id, live, points } = await payer();
    const events = Array.from({ length: 40 }, () => Array.from({ length: 5 }, () => reported(account_id)));
    const sent = events.flatMap((batch) => [
      // A busy account may answer 503, upon which a reporter sends the batch again.
      waitFor(async () => (await report(suite.account, batch)).status === 200),
      report(replica, batch).catch(() => undefined),
    ]);
    await waitFor(async () => (await suite.database('usage_reports').where({ period_id })).length > 50);
    await replica.kill();
    await Promise.all(sent);
    // What was under way in the one that was killed goes again.
    const again = await Promise.all(events.map((batch) => report(suite.account, batch)));
    expect(new Set(again.flatMap(fates))).toEqual(new Set(['repeated']));
    const row = await suite.database('usage_totals').where({ period_id }).first<{ points: number }>();
    expect(row.points).toBe(600);
    await waitFor(async () => (await waiting()) === 0);
    expect((await suite.store.exists(live)) === 0 || (await points()) === 600).toBe(true);
  } finally {
    await replica.stop();
  }
});
