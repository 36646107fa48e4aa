import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import pg from 'pg';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../test/suite/account-under-test.ts';
import { insertGrant } from '../../test/suite/database/credits.ts';
import { insertAccount, insertPeriod, secondsFromNow } from '../../test/suite/database/records.ts';
import { ENTITLEMENT_NOTICES } from '../billing/entitlements/publisher.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import { closePeriod } from './close-period.ts';
import { createClosingNotices } from './notices.ts';

let home: Awaited<ReturnType<typeof createDatabase>>;
let database: Knex;
let listener: pg.Client;
let heard: (string | undefined)[] = [];

beforeAll(async () => {
  home = await createDatabase();
  database = openSuiteDatabase(home.url);
  listener = new pg.Client(home.url);
  await listener.connect();
  listener.on('notification', ({ payload }) => heard.push(payload));
  await listener.query(`LISTEN ${ENTITLEMENT_NOTICES}`);
});

afterAll(async () => {
  await listener.end();
  await database.destroy();
  await home.drop();
});

/** Notices arrive in the order of the commits, so that this one is the last of those before. */
async function noticesUntilNow(): Promise<(string | undefined)[]> {
  await database.raw(`NOTIFY ${ENTITLEMENT_NOTICES}, 'until now'`);
  await waitFor(() => heard.at(-1) === 'until now', { what: 'the last notice' });
  const notices = heard.slice(0, -1);
  heard = [];
  return notices;
}

test('a period is closed without a notice, which would hold up others until it is on disk', async () => {
  const account_id = await insertAccount(database);
  const ended = { started_at: secondsFromNow(-1_000), ended_at: secondsFromNow(-10), grace_sec: 0 };
  const period_id = await insertPeriod(database, account_id, { ...ended, description: { points_limit: 10 } });
  await database('usage_totals').insert({ period_id, points: 25, requests: 1, time_ms: 0, traffic_bytes: 0 });
  const usable_from = secondsFromNow(-500);
  await insertGrant(database, account_id, { effective_at: usable_from, usable_from });
  await database('credit_cuts').update({ resolved_at: new Date() });
  await database('entitlement_outbox').delete();
  expect(await noticesUntilNow()).not.toEqual([]);

  const due = { account_id, period_id };
  const closed = await createTransact(database)((query) =>
    closePeriod(query, due, new Date(), { overuse: 'forgive' }),
  );

  expect(closed).toBe(true);
  expect(await noticesUntilNow()).toEqual([]);
  expect(await database('entitlement_outbox').pluck('account_id')).toContain(account_id);
});

test('the first step is followed by a notice at once, the last one at the latest when all are done', async () => {
  const notices = createClosingNotices(createQuery(database));
  await notices.allDone();
  expect(await noticesUntilNow()).toEqual([]);
  await notices.stepDone();
  expect(await noticesUntilNow()).toEqual(['']);
  const begunMs = performance.now();
  for (let step = 0; step < 50; step += 1) await notices.stepDone();
  await notices.allDone();
  const most = 2 + (performance.now() - begunMs) / 100;
  const sent = (await noticesUntilNow()).length;
  expect(sent).toBeGreaterThanOrEqual(1);
  expect(sent).toBeLessThanOrEqual(most);
});
