import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
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
import { accountMetric } from '../../../test/suite/metrics.ts';
import { nthMail } from '../../../test/suite/people.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';

let suite: AlertsUnderTest;
let owner: Owner;

beforeAll(async () => {
  suite = await startAlerts();
});

beforeEach(async () => {
  owner = await newOwner(suite);
});

afterAll(async () => {
  await suite.close();
});

const period = () => insertPeriod(suite.database, owner.account_id, { description: { points_limit: 100 } });

test('two replicas that notice at once: each share once, each mail once', async () => {
  const period_id = await period();
  await suite
    .database('usage_totals')
    .insert({ period_id, points: 0, requests: 0, time_ms: 0, traffic_bytes: 0 });
  await allChecked(suite);
  // Many checks of one period, and usage that they all see.
  await suite.database.transaction(async (transaction) => {
    await transaction('usage_totals').where({ period_id }).update({ points: 100 });
    const due_at = new Date(Date.now() - 1_000);
    await transaction('usage_alert_checks').insert(
      Array.from({ length: 200 }, () => ({ period_id, due_at })),
    );
  });
  await allChecked(suite);
  await nthMail(suite.mailDirectory, owner.email);
  await waitFor(async () => (await suite.database('mail_outbox')).length === 0);
  expect((await alertsOf(suite, period_id)).map(({ share }) => share)).toEqual([80, 100]);
  expect(subjectsTo(suite, owner)).toEqual(["[Tollgate] You've used 100% of your points"]);
});

test('while a check is being taken, usage that comes asks for one of its own', async () => {
  const period_id = await period();
  await suite
    .database('usage_totals')
    .insert({ period_id, points: 0, requests: 0, time_ms: 0, traffic_bytes: 0 });
  await allChecked(suite);
  const counting = await suite.database.transaction();
  await counting('usage_totals').where({ period_id }).update({ points: 90 });
  // A check that sees no usage yet.
  await suite.database('usage_alert_checks').insert({ period_id });
  await allChecked(suite);
  expect(await alertsOf(suite, period_id)).toEqual([]);
  await counting.commit();
  await waitFor(async () => (await alertsOf(suite, period_id)).length === 1);
});

test('a period that can not be looked at is put off, and holds up no other', async () => {
  const bad = await period();
  await suite.database('alert_settings').insert({
    account_id: owner.account_id,
    mail: true,
    shares: [80],
    // Only possible in the database itself.
    limit_shares: { points_limit: 'all' },
  });
  await use(suite, owner, bad, { points: 90 });
  await waitFor(() =>
    (suite.account.logs() + suite.replica.logs()).includes('could not be looked at for alerts'),
  );
  owner = await newOwner(suite);
  const good = await period();
  await use(suite, owner, good, { points: 90 });
  await waitFor(async () => (await alertsOf(suite, good)).length === 1);
  // A process counts them when it looks for work, and the other may have done all of this.
  await waitFor(async () => (await accountMetric(suite.account, 'tollgate_usage_alert_checks_pending')) > 0);
});
