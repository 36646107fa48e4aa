import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { accountMetric } from '../../../test/suite/metrics.ts';
import { operatorCredentials, operatePath } from '../../../test/suite/operator.ts';
import {
  insertAccount,
  insertApplication,
  insertPeriod,
  insertTeam,
  secondsFromNow,
} from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import {
  countedPoints,
  fates,
  otherReporterAuthorization,
  insertPayer,
  report,
  reported,
  reporterCredentials,
} from '../../../test/suite/usage/usage-reports.ts';
import {
  allCounted,
  appendBatch,
  countedUsage,
  usageEvent,
} from '../../../test/suite/usage/usage-streams.ts';

let suite: AccountUnderTest;

const DAY_SEC = 86_400;
const iso = (seconds: number) => secondsFromNow(seconds).toISOString();

beforeAll(async () => {
  suite = await startAccount({
    settings: { OPERATOR_CREDENTIALS: operatorCredentials, USAGE_REPORTER_CREDENTIALS: reporterCredentials },
  });
});

afterAll(async () => {
  await suite.close();
});

beforeEach(async () => {
  await suite.database.raw('TRUNCATE usage_totals, usage_hourly, usage_reports');
});

const payer = (changes?: Parameters<typeof insertPayer>[1]) => insertPayer(suite, changes);
const pointsOf = (period_id: number) => countedPoints(suite, period_id);

describe('what is reported', () => {
  test('is in the totals, in the hour it occurred in, under its application and version', async () => {
    const { account_id, period_id } = await payer();
    const { application_id } = await insertApplication(suite.database, account_id);
    const now = iso(-60);
    const answer = await report(suite.account, [
      reported(account_id, { application_id, occurred_at: now }),
      reported(account_id, { occurred_at: now, api_version: 'v2', points: 0 }),
    ]);
    expect([answer.status, answer.body]).toMatchObject([
      200,
      {
        counted: 2,
        repeated: 0,
        refused: 0,
        results: [{ index: 0, status: 'counted', period_id }, { index: 1 }],
      },
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const rows = await suite.database('usage_hourly').orderBy('application_id');
    const hour = new Date(Math.floor(Date.parse(now) / 3_600_000) * 3_600_000);
    expect(rows).toMatchObject([
      { hour, period_id, account_id, application_id: 0, api_version: 'v2', points: 0, requests: 1 },
      { hour, period_id, account_id, application_id, api_version: 'v1', points: 3, traffic_bytes: 250 },
    ]);
    expect(await countedUsage(suite.database)).toEqual({
      totals: { points: 3, requests: 2, time_ms: 40, traffic_bytes: 500 },
      hourly: { points: 3, requests: 2, time_ms: 40, traffic_bytes: 500 },
      // A report names none.
      operations: { points: 0, requests: 0 },
    });
    const metric = await accountMetric(suite.account, 'tollgate_usage_report_events_total');
    expect(metric).toBeGreaterThanOrEqual(2);
  });

  test('is added to what the gateways have counted, and the check of the counters holds', async () => {
    const { account_id, period_id } = await payer();
    await appendBatch(suite.store, [usageEvent({ payer_id: account_id, account_id, period_id, points: 10 })]);
    await report(suite.account, [reported(account_id)]);
    await allCounted(suite);
    expect(await pointsOf(period_id)).toBe(13);
    const check = await operatePath(suite.account, 'POST', '/private/usage-checks', { period_id });
    expect(check.body).toMatchObject({ checked: 1, differences: [] });
  });

  test('500 events of many payers at once are counted, one by one', async () => {
    const payers = await Promise.all(Array.from({ length: 10 }, () => payer()));
    const events = Array.from({ length: 500 }, (_, index) =>
      reported(payers[index % 10]?.account_id ?? 0, { points: index }),
    );
    const { body } = await report(suite.account, events);
    expect([body.counted, body.results.map(({ index }) => index)]).toEqual([500, events.map((_, i) => i)]);
    const points = await Promise.all(payers.map(({ period_id }) => pointsOf(period_id)));
    expect(points).toEqual(payers.map((_, first) => 50 * first + (10 * 49 * 50) / 2));
  });
});

describe('an event belongs', () => {
  test('to the period that covered its instant, to the second, expired ones too', async () => {
    const account_id = await insertAccount(suite.database);
    const [first, second] = [
      {
        started_at: secondsFromNow(-60 * DAY_SEC),
        ended_at: secondsFromNow(-30 * DAY_SEC - 1),
        grace_sec: 0,
      },
      { started_at: secondsFromNow(-30 * DAY_SEC), ended_at: secondsFromNow(DAY_SEC), grace_sec: 0 },
    ];
    const earlier = await insertPeriod(suite.database, account_id, first);
    const later = await insertPeriod(suite.database, account_id, second);
    const at = async (instant: Date) => {
      const answer = await report(suite.account, [
        reported(account_id, { occurred_at: instant.toISOString() }),
      ]);
      const [result] = answer.body.results;
      return result?.period_id ?? result?.code;
    };
    expect(await at(first.started_at)).toBe(earlier);
    expect(await at(new Date(+first.ended_at + 999))).toBe(earlier);
    expect(await at(second.started_at)).toBe(later);
    expect(await at(new Date(+first.started_at - 1))).toBe('no_billing_period');
    expect(await pointsOf(earlier)).toBe(6);
  });

  test('in a grace window to the period before it, and to none behind that', async () => {
    const { account_id, period_id } = await payer({
      started_at: secondsFromNow(-40 * DAY_SEC),
      ended_at: secondsFromNow(-10 * DAY_SEC),
      grace_sec: 3 * DAY_SEC,
    });
    const answer = await report(suite.account, [
      reported(account_id, { occurred_at: iso(-8 * DAY_SEC) }),
      reported(account_id, { occurred_at: iso(-6 * DAY_SEC) }),
    ]);
    expect(answer.body.results).toMatchObject([
      { status: 'counted', period_id },
      { status: 'refused', code: 'no_billing_period' },
    ]);
  });

  test('to the manager of the team from when its account joined, to its own period before', async () => {
    const manager = await payer();
    const member = await payer();
    await insertTeam(suite.database, manager.account_id, member.account_id);
    const { account_id } = member;
    await suite
      .database('team_members')
      .where({ account_id })
      .update({ joined_at: secondsFromNow(-DAY_SEC) });
    const answer = await report(suite.account, [
      reported(account_id, { occurred_at: iso(-60) }),
      reported(account_id, { occurred_at: iso(-2 * DAY_SEC) }),
    ]);
    expect(answer.body.results.map(({ period_id }) => period_id)).toEqual([
      manager.period_id,
      member.period_id,
    ]);
  });

  test('to the present period where another clock is a little ahead, not to one that was opened ahead', async () => {
    const account_id = await insertAccount(suite.database);
    const present = await insertPeriod(suite.database, account_id, { ended_at: secondsFromNow(60) });
    await insertPeriod(suite.database, account_id, {
      started_at: secondsFromNow(61),
      ended_at: secondsFromNow(DAY_SEC),
    });
    const { body } = await report(suite.account, [reported(account_id, { occurred_at: iso(200) })]);
    expect(body.results).toMatchObject([{ status: 'counted', period_id: present }]);
  });
});

describe('each event is counted once', () => {
  test('a report that is sent again answers the same periods, and counts nothing', async () => {
    const { account_id, period_id } = await payer();
    const events = [reported(account_id), reported(account_id)];
    expect(fates(await report(suite.account, events))).toEqual(['counted', 'counted']);
    const again = await report(suite.account, [...events, reported(account_id)]);
    expect(fates(again)).toEqual(['repeated', 'repeated', 'counted']);
    expect(again.body.results[0]).toMatchObject({ period_id });
    expect(await pointsOf(period_id)).toBe(9);
  });

  test('a key with other content is a conflict of that event alone', async () => {
    const { account_id, period_id } = await payer();
    const event = reported(account_id);
    await report(suite.account, [event]);
    for (const change of [
      { points: 4 },
      { requests: 2 },
      { time_ms: 0 },
      { traffic_bytes: 1 },
      { api_version: 'v2' },
      { occurred_at: iso(-5) },
      { account_id: (await payer()).account_id },
      { application_id: (await insertApplication(suite.database, account_id)).application_id },
    ]) {
      const answer = await report(suite.account, [{ ...event, ...change }, reported(account_id)]);
      expect([change, fates(answer)]).toEqual([change, ['idempotency_conflict', 'counted']]);
    }
    expect(await pointsOf(period_id)).toBe(27);
  });

  test('the same instant in another notation is the same content', async () => {
    const { account_id } = await payer();
    const instant = secondsFromNow(-60);
    const event = reported(account_id, { occurred_at: instant.toISOString() });
    await report(suite.account, [event]);
    const there = new Date(+instant + 7_200_000).toISOString().replace('.000Z', '+02:00');
    expect(fates(await report(suite.account, [{ ...event, occurred_at: there }]))).toEqual(['repeated']);
  });

  test('keys belong to who reports: another system may use the same ones', async () => {
    const { account_id, period_id } = await payer();
    const event = reported(account_id);
    await report(suite.account, [event]);
    expect(fates(await report(suite.account, [event], otherReporterAuthorization))).toEqual(['counted']);
    expect(await pointsOf(period_id)).toBe(6);
  });

  test('within one report the first of a key that can be counted is', async () => {
    const { account_id, period_id } = await payer();
    const event = reported(account_id);
    const unknown = { ...event, account_id: 999_999_999 };
    const answer = await report(suite.account, [unknown, event, event, { ...event, points: 9 }]);
    expect(fates(answer)).toEqual(['idempotency_conflict', 'counted', 'repeated', 'idempotency_conflict']);
    expect(await pointsOf(period_id)).toBe(3);
  });

  test('the same report twice at the same moment, in one order and the other, counts once', async () => {
    const { account_id, period_id } = await payer();
    const events = Array.from({ length: 300 }, () => reported(account_id));
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        report(suite.account, index % 2 === 0 ? events : events.toReversed()),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const all = answers.flatMap(fates);
    expect(all.filter((fate) => fate === 'counted')).toHaveLength(300);
    expect(all.filter((fate) => fate === 'repeated')).toHaveLength(1_500);
    expect(await pointsOf(period_id)).toBe(900);
    const snapshot = await getPrivate(suite.account, `/private/usage-snapshots/${String(period_id)}`);
    expect(await snapshot.json()).toMatchObject({ points: 900 });
  });

  test('what was refused is not remembered: it is counted when it can be', async () => {
    const account_id = await insertAccount(suite.database);
    const event = reported(account_id);
    expect(fates(await report(suite.account, [event]))).toEqual(['no_billing_period']);
    await insertPeriod(suite.database, account_id);
    expect(fates(await report(suite.account, [event]))).toEqual(['counted']);
  });
});
