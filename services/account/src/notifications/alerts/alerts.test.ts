import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import {
  alertsOf,
  allChecked,
  startAlerts,
  subjectsTo,
  use,
} from '../../../test/suite/notifications/alerts.ts';
import type { AlertsUnderTest } from '../../../test/suite/notifications/alerts.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { nthMail } from '../../../test/suite/people.ts';
import { insertPeriod, secondsFromNow } from '../../../test/suite/database/records.ts';
import type { PeriodChanges } from '../../../test/suite/database/records.ts';
import { inviteTo, joinTeam, makeTeam } from '../../../test/suite/team.ts';
import { startReceiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import type { Receiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import { makeWebhook } from '../../../test/suite/notifications/webhooks.ts';

let suite: AlertsUnderTest;
let receiver: Receiver;
let owner: Owner;

beforeAll(async () => {
  suite = await startAlerts();
  receiver = await startReceiver();
});

beforeEach(async () => {
  owner = await newOwner(suite);
});

afterAll(async () => {
  await receiver.close();
  await suite.close();
});

const period = (changes: PeriodChanges = {}) => insertPeriod(suite.database, owner.account_id, changes);

const settings = (wanted: Record<string, unknown>) => owner.browser.request('PUT', '/alerts', wanted);

describe('settings', () => {
  test('are 80 and 100 % by mail until they are changed, and then as they were put', async () => {
    const defaults = await owner.browser.request('GET', '/alerts');
    const version = expect.stringMatching(/^[0-9a-f]{16}$/);
    expect([defaults.status, defaults.body]).toEqual([
      200,
      { mail: true, shares: [80, 100], limits: {}, plan_limits: [], version },
    ]);
    const wanted = { mail: false, shares: [90, 50], limits: { traffic_bytes_limit: [10] } };
    const put = await settings(wanted);
    expect(put.body).toEqual({ ...wanted, shares: [50, 90], plan_limits: [], version });
    expect((await owner.browser.request('GET', '/alerts')).body).toEqual(put.body);
    expect(put.body['version']).not.toBe(defaults.body['version']);
    const logged = await suite
      .database('audit_log')
      .where({ account_id: owner.account_id, action: 'alert_settings_changed' });
    expect(logged).toHaveLength(1);
  });

  test('come with the limits of the current period that can be passed', async () => {
    const description = { points_limit: 10, time_sec_limit: 0, rate_limit: 60 };
    await period({ description, team_slots_limit: 2, ended_at: secondsFromNow(60) });
    await period({
      description: { traffic_bytes_limit: 10 },
      started_at: secondsFromNow(61),
      ended_at: secondsFromNow(120),
    });
    const { body } = await owner.browser.request('GET', '/alerts');
    expect(body['plan_limits']).toEqual(['points_limit', 'team_slots_limit']);
  });

  test('all that is wrong is named; without a session 401', async () => {
    const { status, body } = await settings({ mail: 1, shares: [0], limits: { points_limit: [80, 80] } });
    expect([status, body['code']]).toEqual([400, 'invalid_request']);
    const named = (body['errors'] as { field: string }[]).map(({ field }) => field);
    expect(named.toSorted()).toEqual(['limits.points_limit', 'mail', 'shares.0']);
    owner.browser.cookie = undefined;
    expect((await owner.browser.request('GET', '/alerts')).status).toBe(401);
  });

  test('with the version that was changed: of two put at once one is refused, and nothing of it is stored', async () => {
    const { version } = (await owner.browser.request('GET', '/alerts')).body;
    const wanted = [10, 20, 30].map((share) => ({ mail: true, shares: [share], limits: {}, version }));
    const answers = await Promise.all(wanted.map(settings));
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused.map(({ body }) => body['code'])).toEqual(['edit_conflict', 'edit_conflict']);
    const stored = (await owner.browser.request('GET', '/alerts')).body;
    expect(answers.filter(({ status }) => status === 200).map(({ body }) => body)).toEqual([stored]);
    // The limits' order is of no account.
    const limits = { traffic_bytes_limit: [5], points_limit: [] };
    const put = await settings({ mail: false, shares: [], limits, version: stored['version'] });
    const again = await settings({ mail: true, shares: [], version: put.body['version'] });
    expect([put.status, again.status]).toEqual([200, 200]);
  });

  test('two put at once: one of them, whole', async () => {
    const [one, other] = [
      { mail: true, shares: [10], limits: {} },
      { mail: false, shares: [20], limits: { points_limit: [30] } },
    ];
    const answers = await Promise.all([settings(one), settings(other)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const { version: _, plan_limits: __, ...stored } = (await owner.browser.request('GET', '/alerts')).body;
    expect([one, other]).toContainEqual(stored);
  });
});

describe('usage that passes a share', () => {
  test('is told once per period and share, by mail and webhook, however it comes and whoever notices', async () => {
    const webhook = await makeWebhook(owner, receiver.url);
    const period_id = await period({ description: { points_limit: 1_000 }, plan_name: 'Plan S' });
    await use(suite, owner, period_id, { points: 799 });
    await allChecked(suite);
    expect(await alertsOf(suite, period_id)).toEqual([]);
    await use(suite, owner, period_id, { points: 1 });
    const mail = await nthMail(suite.mailDirectory, owner.email);
    expect(mail.subject).toBe("[Tollgate] You've used 80% of your points");
    expect(mail.text).toContain("You've used 800 of 1,000 points");
    expect(mail.text).toContain('At 100%, API calls are refused with status 402');
    expect(mail.text).toContain("you're alerted again when you reach the threshold again");
    expect(mail.text).toContain('http://tollgate.example/user/plan');
    expect(mail.text).toContain('http://tollgate.example/user/usage');

    const own = () =>
      receiver.received.filter(({ body }) => body.includes(`"account_id":${String(owner.account_id)},`));
    const received = await waitFor(() => own()[0]);
    const { started_at, ended_at } = (await suite
      .database('billing_periods')
      .where({ period_id })
      .first()) as {
      started_at: Date;
      ended_at: Date;
    };
    const second = (at: Date) => at.toISOString().replace('.000', '');
    expect(received.verify(webhook.secret)).toEqual({
      type: 'usage.alert',
      timestamp: expect.any(String),
      data: {
        alert_id: expect.any(Number),
        account_id: owner.account_id,
        billing_period: {
          period_id,
          plan_name: 'Plan S',
          started_at: second(started_at),
          ended_at: second(ended_at),
        },
        limit: 'points_limit',
        limit_value: 1_000,
        used: 800,
        share_percent: 80,
      },
    });

    for (const points of [50, 50, 50, 50]) await use(suite, owner, period_id, { points });
    await nthMail(suite.mailDirectory, owner.email, 2);
    await use(suite, owner, period_id, { points: 500 });
    await waitFor(() => own().length === 2);
    await allChecked(suite);
    expect(subjectsTo(suite, owner)).toEqual([
      "[Tollgate] You've used 80% of your points",
      "[Tollgate] You've used 100% of your points",
    ]);
    expect((await alertsOf(suite, period_id)).map(({ share }) => share)).toEqual([80, 100]);

    const next = await insertPeriod(suite.database, owner.account_id, {
      started_at: secondsFromNow(6 * 86_400),
      ended_at: secondsFromNow(7 * 86_400),
    });
    await use(suite, owner, next, { points: 850 });
    await nthMail(suite.mailDirectory, owner.email, 3);
    expect(await alertsOf(suite, next)).toMatchObject([{ share: 80, used: 850 }]);
  });

  test('at once passes all of them: each is an alert, and one mail tells of the highest', async () => {
    const period_id = await period({ description: { points_limit: 10 } });
    await use(suite, owner, period_id, { points: 25 });
    await waitFor(async () => (await alertsOf(suite, period_id)).length === 2);
    await nthMail(suite.mailDirectory, owner.email);
    await allChecked(suite);
    expect(subjectsTo(suite, owner)).toEqual(["[Tollgate] You've used 100% of your points"]);
  });

  test('of time and traffic counts like that of points; a limit of 0 or none is never passed', async () => {
    const period_id = await period({
      description: { time_sec_limit: 10, traffic_bytes_limit: 1_000_000, points_limit: 0 },
    });
    await use(suite, owner, period_id, { time_ms: 7_999, points: 5 });
    await use(suite, owner, period_id, { traffic_bytes: 800_000 });
    await waitFor(async () => (await alertsOf(suite, period_id)).length === 1);
    await use(suite, owner, period_id, { time_ms: 1 });
    await waitFor(async () => (await alertsOf(suite, period_id)).length === 2);
    expect(await alertsOf(suite, period_id)).toEqual([
      { limit_name: 'time_sec_limit', share: 80, used: 8, limit_value: 10 },
      { limit_name: 'traffic_bytes_limit', share: 80, used: 800_000, limit_value: 1_000_000 },
    ]);
  });

  test('of members is told to who pays for them', async () => {
    const member = await newOwner(suite);
    await makeTeam(owner);
    await joinTeam(owner, member);
    const period_id = await period({ description: { points_limit: 100 } });
    await use(suite, owner, period_id, { account_id: member.account_id, points: 90 });
    await nthMail(suite.mailDirectory, owner.email);
    await waitFor(async () => (await suite.database('mail_outbox')).length === 0);
    // The invitation was accepted at once: its mail is sent only if it came before.
    const invited = `[Tollgate] ${owner.email} invites you to a team`;
    expect(subjectsTo(suite, member).filter((subject) => subject !== invited)).toEqual([]);
  });

  test('is found whoever writes it: a rebuild, an operator, a limit that shrinks', async () => {
    const period_id = await period({ description: { points_limit: 1_000 } });
    await suite
      .database('usage_totals')
      .insert({ period_id, points: 500, requests: 1, time_ms: 0, traffic_bytes: 0 });
    await suite
      .database('billing_periods')
      .where({ period_id })
      .update({ description: { points_limit: 600 } });
    await waitFor(async () => (await alertsOf(suite, period_id)).length === 1);
    await suite.database('usage_totals').where({ period_id }).update({ points: 600 });
    await waitFor(async () => (await alertsOf(suite, period_id)).length === 2);
  });

  test('goes to nobody by mail who does not want it, or whose address is not verified', async () => {
    await settings({ mail: false, shares: [80], limits: {} });
    const period_id = await period({ description: { points_limit: 10 } });
    await use(suite, owner, period_id, { points: 9 });
    await waitFor(async () => (await alertsOf(suite, period_id)).length === 1);
    await suite
      .database('accounts')
      .where({ account_id: owner.account_id })
      .update({ email_verified_at: null });
    await settings({ mail: true, shares: [90], limits: {} });
    await waitFor(async () => (await alertsOf(suite, period_id)).length === 2);
    await waitFor(async () => (await suite.database('mail_outbox')).length === 0);
    expect(subjectsTo(suite, owner)).toEqual([]);
  });

  test('and a share that is chosen when it is passed already is told at once, each once', async () => {
    const period_id = await period({ description: { points_limit: 100 } });
    await use(suite, owner, period_id, { points: 70 });
    await allChecked(suite);
    await settings({ mail: true, shares: [50, 60], limits: {} });
    await nthMail(suite.mailDirectory, owner.email);
    await settings({ mail: true, shares: [50, 60, 99], limits: {} });
    await allChecked(suite);
    expect((await alertsOf(suite, period_id)).map(({ share }) => share)).toEqual([50, 60]);
    expect(subjectsTo(suite, owner)).toEqual(["[Tollgate] You've used 70% of your points"]);
  });
});

test('a mail says how much is used, not only which threshold that has passed', async () => {
  await settings({ mail: true, shares: [], limits: {} });
  await makeTeam(owner);
  await inviteTo(owner, await newOwner(suite));
  await period({ description: { team_slots_limit: 5 } });
  await allChecked(suite);
  await settings({ mail: true, shares: [], limits: { team_slots_limit: [1] } });
  const mail = await nthMail(suite.mailDirectory, owner.email);
  expect(mail.subject).toBe("[Tollgate] You've used 40% of your team slots");
  expect(mail.text).toContain("You've used 2 of 5 slots");
  expect(mail.text).toContain('Threshold reached: 1% of the limit');
  expect(mail.text).not.toContain('alerted again');
});

test('team slots: who is invited counts, and what is taken when a period begins', async () => {
  await settings({ mail: true, shares: [80, 100], limits: { team_slots_limit: [80, 100] } });
  await makeTeam(owner);
  const period_id = await period({ description: { team_slots_limit: 3 } });
  await inviteTo(owner, await newOwner(suite));
  await allChecked(suite);
  expect(await alertsOf(suite, period_id)).toEqual([]);
  await inviteTo(owner, await newOwner(suite));
  await waitFor(async () => (await alertsOf(suite, period_id)).length === 2);
  expect(await alertsOf(suite, period_id)).toMatchObject([
    { limit_name: 'team_slots_limit', share: 80, used: 3, limit_value: 3 },
    { share: 100 },
  ]);
  await nthMail(suite.mailDirectory, owner.email);
  expect(subjectsTo(suite, owner)).toEqual(["[Tollgate] You've used 100% of your team slots"]);
  await suite
    .database('billing_periods')
    .where({ period_id })
    .update({ ended_at: secondsFromNow(-2) });
  const next = await period({ started_at: secondsFromNow(-1), description: { team_slots_limit: 3 } });
  await waitFor(async () => (await alertsOf(suite, next)).length === 2);
});

describe('a test', () => {
  const recent = async () => (await owner.browser.request('GET', '/alerts/recent')).body['alerts'];
  const sendTest = () => owner.browser.request('POST', '/alerts/test');

  test('comes by mail, also with alerts by mail off, and is in the list with the alerts, newest first', async () => {
    expect(await recent()).toEqual([]);
    await settings({ mail: true, shares: [80], limits: {} });
    const period_id = await period({ description: { points_limit: 10 } });
    await use(suite, owner, period_id, { points: 9 });
    await nthMail(suite.mailDirectory, owner.email);
    await settings({ mail: false, shares: [80], limits: {} });
    const { status, body } = await sendTest();
    expect([status, body]).toEqual([202, { email: owner.email }]);
    const mail = await nthMail(suite.mailDirectory, owner.email, 2);
    expect(mail.subject).toBe('[Tollgate] Test of your usage alerts');
    expect(mail.text).toContain('This is a test.');
    const created_at = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(await recent()).toEqual([
      { is_test: true, limit: null, budget: null, share_percent: null, created_at },
      { is_test: false, limit: 'points_limit', budget: null, share_percent: 80, created_at },
    ]);
  });

  test('is limited to five in an hour, for each account', async () => {
    for (let count = 0; count < 5; count += 1) expect((await sendTest()).status).toBe(202);
    const { status, headers } = await sendTest();
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await recent()).toHaveLength(5);
    owner = await newOwner(suite);
    expect(await recent()).toEqual([]);
    expect((await sendTest()).status).toBe(202);
  });

  test('is refused to a blocked account', async () => {
    await suite
      .database('accounts')
      .where({ account_id: owner.account_id })
      .update({ blocked_at: new Date() });
    const { status, body } = await sendTest();
    expect([status, body['code']]).toEqual([403, 'account_blocked']);
  });
});
