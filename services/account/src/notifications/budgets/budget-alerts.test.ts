import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import type { OwnApplication, Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { allChecked, startAlerts, subjectsTo } from '../../../test/suite/notifications/alerts.ts';
import type { AlertsUnderTest } from '../../../test/suite/notifications/alerts.ts';
import { makeWebhook } from '../../../test/suite/notifications/webhooks.ts';
import { mailAbout } from '../../../test/suite/people.ts';
import { startReceiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import type { Receiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import { joinTeam, makeTeam } from '../../../test/suite/team.ts';
import { appendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';

let suite: AlertsUnderTest;
let receiver: Receiver;
let manager: Owner;
let member: Owner;
let application: OwnApplication;
let period_id: number;

beforeAll(async () => {
  suite = await startAlerts();
  receiver = await startReceiver();
});

afterAll(async () => {
  await receiver.close();
  await suite.close();
});

beforeEach(async () => {
  [manager, member] = [await newOwner(suite), await newOwner(suite)];
  period_id = await insertPeriod(suite.database, manager.account_id, {
    description: { points_limit: 1_000_000, team_slots_limit: 9 },
  });
  await makeTeam(manager);
  await joinTeam(manager, member);
  application = await makeOwnApplication(member.browser);
});

async function spend(points: number): Promise<void> {
  const { application_id } = application;
  const ids = { payer_id: manager.account_id, account_id: member.account_id, period_id, application_id };
  await appendBatch(suite.redis, [usageEvent({ ...ids, points })]);
}

/** To whom an alert went, of which window and threshold. */
async function alerts(): Promise<[number, 'day' | 'period', number][]> {
  const rows = await suite
    .database('budget_alerts')
    .whereIn('account_id', [manager.account_id, member.account_id])
    .orderBy(['account_id', 'share'])
    .select<{ account_id: number; day: unknown; share: number }[]>('account_id', 'day', 'share');
  return rows.map(({ account_id, day, share }) => [account_id, day === null ? 'period' : 'day', share]);
}

async function untilAlerts(expected: [number, 'day' | 'period', number][]): Promise<void> {
  await waitFor(async () => (await alerts()).length >= expected.length);
  expect(await alerts()).toEqual(expected);
}

async function allCheckedSoon(): Promise<void> {
  await waitFor(async () => (await suite.database('usage_alert_checks').where({ period_id })).length === 0);
}

const daily = (points_per_day: number | null) => ({ points_per_day });

test("an application's budget alerts its owner once per threshold, by mail and webhook, and again once it is changed", async () => {
  const { secret } = await makeWebhook(member, receiver.url);
  const set = (points: number) => member.browser.request('PUT', `${application.path}/budget`, daily(points));
  await set(50);
  await spend(41);
  const { account_id } = member;
  await untilAlerts([[account_id, 'day', 80]]);
  const mail = await mailAbout(
    suite.mailDirectory,
    member.email,
    '[Tollgate] An application has used 82% of its budget',
  );
  expect(mail.text).toContain('An application has spent 41 of 50 points today (UTC).');
  const own = () => receiver.received.filter(({ body }) => body.includes('application_budget'));
  await waitFor(() => own().length === 1);
  expect(own()[0]?.verify(secret)).toMatchObject({
    type: 'usage.alert',
    data: {
      account_id,
      limit: 'application_budget',
      application_id: application.application_id,
      window: 'day',
      limit_value: 50,
      used: 41,
      share_percent: 80,
    },
  });
  await spend(4);
  await waitFor(
    async () => (await suite.database('usage_totals').where({ period_id, points: 45 })).length === 1,
  );
  await allCheckedSoon();
  expect(await alerts()).toEqual([[account_id, 'day', 80]]);
  await set(45);
  await untilAlerts([
    [account_id, 'day', 80],
    [account_id, 'day', 100],
  ]);
  await allChecked(suite);
  expect(subjectsTo(suite, manager)).not.toContainEqual(expect.stringContaining('budget'));
  const budget = { name: 'App', account_id, application_id: application.application_id, window: 'day' };
  expect((await member.browser.request('GET', '/alerts/recent')).body).toMatchObject({
    alerts: [
      { is_test: false, limit: 'application_budget', budget, share_percent: 100 },
      { limit: 'application_budget', budget, share_percent: 80 },
    ],
  });
});

test("a member's budget alerts the member and the manager, of both windows, also if it is spent when it is set", async () => {
  await spend(100);
  await waitFor(async () => (await suite.database('usage_totals').where({ period_id })).length === 1);
  await manager.browser.request('PUT', `/team/members/${String(member.account_id)}/budget`, {
    points_per_period: 110,
    points_per_day: 0,
  });
  await untilAlerts([
    [manager.account_id, 'period', 80],
    [member.account_id, 'period', 80],
  ]);
  const toManager = await mailAbout(
    suite.mailDirectory,
    manager.email,
    '[Tollgate] A team member has used 90% of their budget',
  );
  expect(toManager.text).toContain(member.email);
  await mailAbout(suite.mailDirectory, member.email, '[Tollgate] You have used 90% of your budget');
  for (const { browser } of [manager, member]) {
    const { alerts: recent } = (await browser.request('GET', '/alerts/recent')).body;
    expect(recent).toMatchObject([
      {
        limit: 'member_budget',
        budget: { account_id: member.account_id, application_id: null, window: 'period' },
        share_percent: 80,
      },
    ]);
  }
});

test('usage of who pays for no budget requests no check of budgets', async () => {
  await allCheckedSoon();
  await spend(3);
  await waitFor(async () => (await suite.database('usage_totals').where({ period_id })).length === 1);
  expect(await suite.database('usage_alert_checks').where({ period_id })).toEqual([]);
  await member.browser.request('PUT', `${application.path}/budget`, daily(1_000));
  await allCheckedSoon();
  await spend(3);
  await waitFor(async () => (await suite.database('usage_alert_checks').where({ period_id })).length > 0);
});
