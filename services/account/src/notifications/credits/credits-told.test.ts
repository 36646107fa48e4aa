import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { cutsResolved } from '../../../test/suite/credits.ts';
import { insertPeriod, secondsFromNow } from '../../../test/suite/database/records.ts';
import { grantTo } from '../../../test/suite/granting.ts';
import { allChecked, startAlerts, subjectsTo, use } from '../../../test/suite/notifications/alerts.ts';
import type { AlertsUnderTest } from '../../../test/suite/notifications/alerts.ts';
import { makeWebhook } from '../../../test/suite/notifications/webhooks.ts';
import { operatePath } from '../../../test/suite/operator.ts';
import { startReceiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import type { Receiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import { mailAbout } from '../../../test/suite/people.ts';

const DAY_SEC = 86_400;

const inDays = (days: number) =>
  secondsFromNow(days * DAY_SEC)
    .toISOString()
    .replace('.000', '');

type Told = { type: string; data: Record<string, unknown> };

let suite: AlertsUnderTest;
let receiver: Receiver;
let owner: Owner;
let secret: string;

beforeAll(async () => {
  suite = await startAlerts();
  receiver = await startReceiver();
});

beforeEach(async () => {
  owner = await newOwner(suite);
  ({ secret } = await makeWebhook(owner, receiver.url));
});

afterAll(async () => {
  await receiver.close();
  await suite.close();
});

/** What the owner's webhook has received about credits. */
function told(): Told[] {
  const own = receiver.received.filter(({ body }) =>
    body.includes(`"account_id":${String(owner.account_id)},`),
  );
  return own.map(({ verify }) => verify(secret) as Told).filter(({ type }) => type.startsWith('credits.'));
}

const typesTold = () => told().map(({ type }) => type);

const grant = (changes: Record<string, unknown>) => grantTo(suite.account, owner.account_id, changes);

/** Until nothing is left to be told now, nor to be sent. */
async function allTold(): Promise<void> {
  await allChecked(suite);
  await waitFor(async () => {
    const due = await suite
      .database('credit_notices')
      .whereRaw("next_attempt_at <= clock_timestamp() AND at <= clock_timestamp() AND kind <> 'expiring'");
    const pending = await suite
      .database('webhook_deliveries')
      .join('webhooks', 'webhooks.webhook_id', 'webhook_deliveries.webhook_id')
      .where({ account_id: owner.account_id, status: 'pending' });
    return due.length === 0 && pending.length === 0;
  });
}

/** As if the time until then had passed. */
async function expirySoon(credit_id: number): Promise<void> {
  await suite
    .database('credit_notices')
    .where({ credit_id, kind: 'expiring' })
    .update({ at: secondsFromNow(7 * DAY_SEC - 1) });
}

test('a grant is told once, by webhook only, also one that begins later', async () => {
  const expires_at = inDays(30);
  const { credit_id, effective_at } = await grant({ points: 500, source: 'compensation', expires_at });
  const later = await grant({ points: 7, effective_at: inDays(1) });
  await waitFor(() => told().length === 2);
  const toldGrant = {
    credit_id,
    points: 500,
    points_remaining: 500,
    source: 'compensation',
    effective_at: effective_at.replace('.000', ''),
    expires_at,
  };
  expect(told()[0]).toEqual({
    type: 'credits.granted',
    timestamp: expect.any(String),
    data: { account_id: owner.account_id, grant: toldGrant },
  });
  expect(told()[1]?.data).toMatchObject({ grant: { credit_id: later.credit_id, expires_at: null } });
  await allTold();
  expect(typesTold()).toEqual(['credits.granted', 'credits.granted']);
  expect(subjectsTo(suite, owner)).toEqual([]);
});

test('an expiry is told a week before, by webhook and mail, with what is left by then', async () => {
  const period_id = await insertPeriod(suite.database, owner.account_id, {
    description: { points_limit: 10 },
  });
  const { credit_id } = await grant({
    points: 1_000,
    expires_at: inDays(8),
  });
  await use(suite, owner, period_id, { points: 310 });
  await waitFor(async () => (await suite.database('usage_totals').where({ period_id })).length === 1);
  await allTold();
  expect(typesTold()).toEqual(['credits.granted']);
  await expirySoon(credit_id);
  await waitFor(() => typesTold().includes('credits.expiring'));
  expect(told()[1]?.data).toMatchObject({
    account_id: owner.account_id,
    grant: { credit_id, points: 1_000, points_remaining: 700 },
  });
  const day = secondsFromNow(8 * DAY_SEC)
    .toISOString()
    .slice(0, 10);
  const mail = await mailAbout(suite.mailDirectory, owner.email, `[Tollgate] Your credits expire on ${day}`);
  expect(mail.text).toContain("700 points that you haven't used yet expire soon.");
  await allTold();
  expect(typesTold()).toEqual(['credits.granted', 'credits.expiring']);
});

test('credits that last less than a week are told at once; used or voided ones never', async () => {
  await grant({ points: 20, priority: 90, expires_at: inDays(1) });
  await waitFor(() => typesTold().includes('credits.expiring'));
  const expires_at = inDays(8);
  const used = await grant({ points: 30, priority: 1, expires_at });
  const voided = await grant({ points: 40, expires_at });
  const period_id = await insertPeriod(suite.database, owner.account_id, {
    description: { points_limit: 0 },
  });
  await use(suite, owner, period_id, { points: 30 });
  const path = `/private/credits/${String(voided.credit_id)}/void`;
  expect((await operatePath(suite.account, 'POST', path)).status).toBe(200);
  await cutsResolved({ database: suite.database, store: suite.redis }, owner.account_id);
  await waitFor(async () => (await suite.database('usage_totals').where({ period_id })).length === 1);
  for (const { credit_id } of [used, voided]) await expirySoon(credit_id);
  await waitFor(async () => {
    const left = await suite
      .database('credit_notices')
      .whereIn('credit_id', [used.credit_id, voided.credit_id]);
    return left.length === 0;
  });
  await allTold();
  expect(typesTold().filter((type) => type === 'credits.expiring')).toHaveLength(1);
});

test('a fifth left is told once, and again after the next grant; mails follow the settings', async () => {
  const period_id = await insertPeriod(suite.database, owner.account_id, {
    description: { points_limit: 1_000_000 },
  });
  await grant({ points: 100 });
  await allTold();
  // Included points are no credits.
  await use(suite, owner, period_id, { points: 1_000_000 });
  await use(suite, owner, period_id, { points: 79 });
  await waitFor(async () => {
    const counted = await suite.database('usage_totals').where({ period_id, points: 1_000_079 });
    return counted.length === 1;
  });
  await allTold();
  expect(typesTold()).toEqual(['credits.granted']);
  await use(suite, owner, period_id, { points: 1 });
  await waitFor(() => typesTold().includes('credits.low'));
  expect(told()[1]).toEqual({
    type: 'credits.low',
    timestamp: expect.any(String),
    data: { account_id: owner.account_id, points_remaining: 20, points: 100 },
  });
  const subject = '[Tollgate] Your credits are running low';
  const mail = await mailAbout(suite.mailDirectory, owner.email, subject);
  expect(mail.text).toContain('20 of 100 points are left.');
  await use(suite, owner, period_id, { points: 5 });
  await waitFor(async () => {
    const counted = await suite.database('usage_totals').where({ period_id, points: 1_000_085 });
    return counted.length === 1;
  });
  await allTold();
  expect(typesTold()).toEqual(['credits.granted', 'credits.low']);

  await owner.browser.request('PUT', '/alerts', { mail: false, shares: [100], limits: {} });
  await grant({ points: 85 });
  await allTold();
  await use(suite, owner, period_id, { points: 80 });
  await waitFor(() => told().length === 4);
  expect(told()[3]?.data).toEqual({ account_id: owner.account_id, points_remaining: 20, points: 100 });
  await allTold();
  expect(subjectsTo(suite, owner).filter((each) => each === subject)).toHaveLength(1);
});

test('what is told while both replicas are killed arrives once', async () => {
  await suite.replica.kill();
  await grant({ points: 60, expires_at: inDays(1) });
  await suite.account.kill();
  await suite.account.restart();
  await suite.replica.restart();
  await waitFor(() => new Set(typesTold()).size === 2);
  await allTold();
  const ids = receiver.received
    .filter(({ body }) => body.includes(`"account_id":${String(owner.account_id)},`))
    .map(({ headers }) => headers['webhook-id']);
  // The receiver may get a message twice, with the same id.
  expect(new Set(ids).size).toBe(2);
});
