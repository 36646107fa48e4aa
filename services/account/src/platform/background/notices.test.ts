import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import type { Database } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import { createPostgresServer } from '../database/postgres-server.ts';
import { startNotices } from './notices.ts';
import type { Notices } from './notices.ts';
import { sessionsOf } from '../../../test/suite/database/sessions.ts';

const CHANNELS = ['due_work', 'entitlement_outbox'];

let home: Database;
let database: Knex;
let notices: Notices;
let noticed: string[];

beforeAll(async () => {
  home = await createDatabase();
  database = openSuiteDatabase(home.url);
});

beforeEach(() => {
  noticed = [];
});

afterEach(async () => {
  await notices.close();
});

afterAll(async () => {
  await database.destroy();
  await home.drop();
});

function start(notify: () => Promise<unknown>): void {
  notices = startNotices({
    server: createPostgresServer({ url: home.url }),
    channels: CHANNELS,
    notify,
  });
  for (const channel of CHANNELS) {
    notices.onNotice(channel, () => noticed.push(channel));
  }
}

const notifyDueWork = async () => {
  await database.raw('NOTIFY due_work');
};

const connections = () =>
  sessionsOf(database).where({ application_name: 'tollgate listens' }).pluck<number[]>('pid');

test('each channel is told of its own notices, by one connection', async () => {
  start(notifyDueWork);
  await waitFor(() => notices.isHearing());
  noticed = [];
  await database.raw('NOTIFY entitlement_outbox');
  await waitFor(() => noticed.length > 0);
  expect(noticed).toEqual(['entitlement_outbox']);
  await notifyDueWork();
  await waitFor(() => noticed.length > 1);
  expect(noticed).toEqual(['entitlement_outbox', 'due_work']);
  expect(await connections()).toHaveLength(1);
});

test('a connection that is cut is made again, and every channel is told, for missed notices', async () => {
  start(notifyDueWork);
  await waitFor(() => notices.isHearing());
  noticed = [];
  await database.raw('SELECT pg_terminate_backend(pid) FROM unnest(?::int[]) AS pid', [await connections()]);
  await waitFor(() => !notices.isHearing());
  await waitFor(() => notices.isHearing());
  expect(new Set(noticed)).toEqual(new Set(['due_work', 'entitlement_outbox']));
});

test('a pooler that passes on no notices is not heard', async () => {
  let sent = 0;
  start(() => {
    sent += 1;
    return Promise.resolve();
  });
  await waitFor(() => sent > 0);
  expect([notices.isHearing(), new Set(noticed)]).toEqual([
    false,
    new Set(['due_work', 'entitlement_outbox']),
  ]);
});
