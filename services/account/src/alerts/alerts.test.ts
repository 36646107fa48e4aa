import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startServiceProcess } from '@tollgate/testbed/service-process';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { newOwner } from '../suite/console.ts';
import type { Owner } from '../suite/console.ts';
import { accountMetric } from '../suite/metrics.ts';
import { mailsTo, nthMail, startPeople } from '../suite/people.ts';
import type { PeopleUnderTest } from '../suite/people.ts';
import { insertPeriod, secondsFromNow } from '../suite/records.ts';
import type { PeriodChanges } from '../suite/records.ts';
import { inviteTo, joinTeam, makeTeam } from '../suite/team.ts';
import { appendBatch, usageEvent } from '../suite/usage-streams.ts';
import { startReceiver } from '../suite/webhook-receiver.ts';
import type { Receiver } from '../suite/webhook-receiver.ts';
import { makeWebhook } from '../suite/webhooks.ts';

let suite: PeopleUnderTest;
let replica: ServiceProcess;
let redis: RedisConnection;
let receiver: Receiver;
let owner: Owner;

beforeAll(async () => {
  suite = await startPeople({
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
    MAIL_REQUESTS_PER_ADDRESS: '1000',
  });
  replica = await startServiceProcess('account', suite.settings);
  redis = openRedis(suite.settings['REDIS_URL'] ?? '', createLogger('suite', 'silent'));
  receiver = await startReceiver();
});

beforeEach(async () => {
  owner = await newOwner(suite);
});

afterAll(async () => {
  redis.disconnect();
  await Promise.all([replica.stop(), receiver.close()]);
  await suite.close();
});

type AlertRow = { limit_name: string; share: number; used: number; limit_value: number };

const alertsOf = (periodId: number) =>
  suite
    .database('usage_alerts')
    .where({ period_id: periodId })
    .orderBy(['limit_name', 'share'])
    .select<AlertRow[]>('limit_name', 'share', 'used', 'limit_value');

/** Waits until nothing waits to be looked at. */
const allChecked = () =>
  waitFor(async () => {
    const due = await suite.database('usage_alert_checks').whereRaw('due_at <= clock_timestamp()');
    return due.length === 0;
  });

const period = (changes: PeriodChanges = {}) => insertPeriod(suite.database, owner.account_id, changes);

/** Finished calls, by the way that they come from a gateway. */
const use = (period_id: number, used: Partial<ReturnType<typeof usageEvent>>) =>
  appendBatch(redis, [
    usageEvent({
      payer_id: owner.account_id,
      account_id: owner.account_id,
      period_id,
      points: 0,
      traffic_bytes: 0,
      ...used,
    }),
  ]);

const settings = (wanted: Record<string, unknown>) => owner.browser.request('PUT', '/alerts', wanted);

const subjects = () => mailsTo(suite.mailDirectory, owner.email).map(({ subject }) => subject);

describe('settings', () => {
  test('are 80 and 100 % by mail until they are changed, and then as they were put', async () => {
    const defaults = await owner.browser.request('GET', '/alerts');
    expect([defaults.status, defaults.body]).toEqual([200, { mail: true, shares: [80, 100], limits: {} }]);
    const wanted = { mail: false, shares: [90, 50], limits: { traffic_bytes_limit: [10] } };
    expect((await settings(wanted)).body).toEqual({ ...wanted, shares: [50, 90] });
    expect((await owner.browser.request('GET', '/alerts')).body).toEqual({ ...wanted, shares: [50, 90] });
    const logged = await suite
      .database('audit_log')
      .where({ account_id: owner.account_id, action: 'alert_settings_changed' });
    expect(logged).toHaveLength(1);
  });

  test('all that is wrong is named; without a session 401', async () => {
    const { status, body } = await settings({ mail: 1, shares: [0], limits: { points_limit: [80, 80] } });
    expect([status, body['code']]).toEqual([400, 'invalid_request']);
    const named = (body['errors'] as { field: string }[]).map(({ field }) => field);
    expect(named.toSorted()).toEqual(['limits.points_limit', 'mail', 'shares.0']);
    owner.browser.cookie = undefined;
    expect((await owner.browser.request('GET', '/alerts')).status).toBe(401);
  });

  test('two put at once: one of them, whole', async () => {
    const [one, other] = [
      { mail: true, shares: [10], limits: {} },
      { mail: false, shares: [20], limits: { points_limit: [30] } },
    ];
    const answers = await Promise.all([settings(one), settings(other)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect([one, other]).toContainEqual((await owner.browser.request('GET', '/alerts')).body);
  });
});

describe('usage that passes a share', () => {
  test('is told once per period and share, by mail and webhook, however it comes and whoever notices', async () => {
    const webhook = await makeWebhook(owner, receiver.url);
    const period_id = await period({ description: { points_limit: 1_000 }, plan_name: 'Plan S' });
    await use(period_id, { points: 799 });
    await allChecked();
    expect(await alertsOf(period_id)).toEqual([]);
    await use(period_id, { points: 1 });
    const mail = await nthMail(suite.mailDirectory, owner.email);
    expect(mail.subject).toBe('80 % of your points are used');
    expect(mail.text).toContain('800 points of 1,000 points are used');
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

    for (const points of [50, 50, 50, 50]) await use(period_id, { points });
    await nthMail(suite.mailDirectory, owner.email, 2);
    await use(period_id, { points: 500 });
    await waitFor(() => own().length === 2);
    await allChecked();
    expect(subjects()).toEqual(['80 % of your points are used', '100 % of your points are used']);
    expect((await alertsOf(period_id)).map(({ share }) => share)).toEqual([80, 100]);

    // The next period begins anew.
    const next = await insertPeriod(suite.database, owner.account_id, {
      started_at: secondsFromNow(6 * 86_400),
      ended_at: secondsFromNow(7 * 86_400),
    });
    await use(next, { points: 850 });
    await nthMail(suite.mailDirectory, owner.email, 3);
    expect(await alertsOf(next)).toMatchObject([{ share: 80, used: 850 }]);
  });

  test('at once passes all of them: each is an alert, and one mail tells of the highest', async () => {
    const period_id = await period({ description: { points_limit: 10 } });
    await use(period_id, { points: 25 });
    await waitFor(async () => (await alertsOf(period_id)).length === 2);
    await nthMail(suite.mailDirectory, owner.email);
    await allChecked();
    expect(subjects()).toEqual(['100 % of your points are used']);
  });

  test('of time and traffic counts like that of points; a limit of 0 or none is never passed', async () => {
    const period_id = await period({
      description: { time_sec_limit: 10, traffic_bytes_limit: 1_000_000, points_limit: 0 },
    });
    await use(period_id, { time_ms: 7_999, points: 5 });
    await use(period_id, { traffic_bytes: 800_000 });
    await waitFor(async () => (await alertsOf(period_id)).length === 1);
    await use(period_id, { time_ms: 1 });
    await waitFor(async () => (await alertsOf(period_id)).length === 2);
    expect(await alertsOf(period_id)).toEqual([
      { limit_name: 'time_sec_limit', share: 80, used: 8, limit_value: 10 },
      { limit_name: 'traffic_bytes_limit', share: 80, used: 800_000, limit_value: 1_000_000 },
    ]);
  });

  test('of members is told to who pays for them', async () => {
    const member = await newOwner(suite);
    await makeTeam(owner);
    await joinTeam(owner, member);
    const period_id = await period({ description: { points_limit: 100 } });
    await use(period_id, { account_id: member.account_id, points: 90 });
    await nthMail(suite.mailDirectory, owner.email);
    const told = mailsTo(suite.mailDirectory, member.email).map(({ subject }) => subject);
    expect(told).toEqual(['You are invited into a team']);
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
    await waitFor(async () => (await alertsOf(period_id)).length === 1);
    await suite.database('usage_totals').where({ period_id }).update({ points: 600 });
    await waitFor(async () => (await alertsOf(period_id)).length === 2);
  });

  test('goes to nobody by mail who does not want it, or whose address is not verified', async () => {
    await settings({ mail: false, shares: [80], limits: {} });
    const period_id = await period({ description: { points_limit: 10 } });
    await use(period_id, { points: 9 });
    await waitFor(async () => (await alertsOf(period_id)).length === 1);
    await suite
      .database('accounts')
      .where({ account_id: owner.account_id })
      .update({ email_verified_at: null });
    await settings({ mail: true, shares: [90], limits: {} });
    await waitFor(async () => (await alertsOf(period_id)).length === 2);
    await waitFor(async () => (await suite.database('mail_outbox')).length === 0);
    expect(subjects()).toEqual([]);
  });

  test('and a share that is chosen when it is passed already is told at once, each once', async () => {
    const period_id = await period({ description: { points_limit: 100 } });
    await use(period_id, { points: 70 });
    await allChecked();
    await settings({ mail: true, shares: [50, 60], limits: {} });
    await nthMail(suite.mailDirectory, owner.email);
    await settings({ mail: true, shares: [50, 60, 99], limits: {} });
    await allChecked();
    expect((await alertsOf(period_id)).map(({ share }) => share)).toEqual([50, 60]);
    expect(subjects()).toEqual(['60 % of your points are used']);
  });
});

test('team slots: who is invited counts, and what is taken when a period begins', async () => {
  await makeTeam(owner);
  const period_id = await period({ description: { team_slots_limit: 3 } });
  await inviteTo(owner, await newOwner(suite));
  await allChecked();
  expect(await alertsOf(period_id)).toEqual([]);
  await inviteTo(owner, await newOwner(suite));
  await waitFor(async () => (await alertsOf(period_id)).length === 2);
  expect(await alertsOf(period_id)).toMatchObject([
    { limit_name: 'team_slots_limit', share: 80, used: 3, limit_value: 3 },
    { share: 100 },
  ]);
  await nthMail(suite.mailDirectory, owner.email);
  expect(subjects()).toEqual(['100 % of your team slots are used']);
  // As at a change of plan: the next period covers the present from its first moment on.
  await suite
    .database('billing_periods')
    .where({ period_id })
    .update({ ended_at: secondsFromNow(-2) });
  const next = await period({ started_at: secondsFromNow(-1), description: { team_slots_limit: 3 } });
  await waitFor(async () => (await alertsOf(next)).length === 2);
});

test('two replicas that notice at once: each share once, each mail once', async () => {
  const period_id = await period({ description: { points_limit: 100 } });
  await suite
    .database('usage_totals')
    .insert({ period_id, points: 0, requests: 0, time_ms: 0, traffic_bytes: 0 });
  await allChecked();
  // Many checks of one period, and usage that both see.
  await suite.database.transaction(async (transaction) => {
    await transaction('usage_totals').where({ period_id }).update({ points: 100 });
    const due_at = new Date(Date.now() - 1_000);
    await transaction('usage_alert_checks').insert(
      Array.from({ length: 200 }, () => ({ period_id, due_at })),
    );
  });
  await allChecked();
  await nthMail(suite.mailDirectory, owner.email);
  await waitFor(async () => (await suite.database('mail_outbox')).length === 0);
  expect((await alertsOf(period_id)).map(({ share }) => share)).toEqual([80, 100]);
  expect(subjects()).toEqual(['100 % of your points are used']);
});

test('while a check is being taken, usage that comes asks for one of its own', async () => {
  const period_id = await period({ description: { points_limit: 100 } });
  await suite
    .database('usage_totals')
    .insert({ period_id, points: 0, requests: 0, time_ms: 0, traffic_bytes: 0 });
  await allChecked();
  const counting = await suite.database.transaction();
  await counting('usage_totals').where({ period_id }).update({ points: 90 });
  // A check that sees nothing of it yet, and goes.
  await suite.database('usage_alert_checks').insert({ period_id });
  await allChecked();
  expect(await alertsOf(period_id)).toEqual([]);
  await counting.commit();
  await waitFor(async () => (await alertsOf(period_id)).length === 1);
});

test('a period that can not be looked at is put off, and holds up no other', async () => {
  const bad = await period({ description: { points_limit: 100 } });
  await suite.database('alert_settings').insert({
    account_id: owner.account_id,
    mail: true,
    shares: [80],
    // As only somebody at the database itself could write it.
    limit_shares: { points_limit: 'all' },
  });
  await use(bad, { points: 90 });
  await waitFor(() => (suite.account.logs() + replica.logs()).includes('could not be looked at for alerts'));
  owner = await newOwner(suite);
  const good = await period({ description: { points_limit: 100 } });
  await use(good, { points: 90 });
  await waitFor(async () => (await alertsOf(good)).length === 1);
  expect(await accountMetric(suite.account, 'tollgate_usage_alert_checks_pending')).toBeGreaterThan(0);
});
