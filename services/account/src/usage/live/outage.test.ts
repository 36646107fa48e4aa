import { afterEach, expect, test } from '@jest/globals';
import { createDatabase } from '@tollgate/testbed/database';
import { startPostgres } from '@tollgate/testbed/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { newOwner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { startTcpRelay } from '@tollgate/testbed/tcp-relay';
import { openLiveFeed } from '../../../test/suite/usage/live-feed.ts';
import { appendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function followNewCustomer(suite: AccountUnderTest) {
  const owner = await newOwner(suite);
  const { account_id } = owner;
  const period_id = await insertPeriod(suite.database, account_id);
  const feed = await openLiveFeed(suite.account.publicUrl, owner.browser);
  cleanUps.push(() => {
    feed.close();
  });
  expect((await feed.next()).event).toBe('pace');
  return { feed, event: usageEvent({ account_id, payer_id: account_id, period_id, points: 5 }) };
}

const SHOWS_THE_CALL = { limits: { points_limit: { usage: 5 } } };

test('while Postgres is away a feed says so once, stays open, and goes on afterwards', async () => {
  const postgres = await startPostgres();
  cleanUps.push(() => postgres.stop());
  const suite = await startAccount({ databaseUrl: postgres.url });
  cleanUps.push(() => suite.close());
  const { feed, event } = await followNewCustomer(suite);
  await postgres.kill();
  expect((await feed.next()).event).toBe('paused');
  await appendBatch(suite.store, [event]);
  await postgres.restart();
  await waitFor(() => feed.events.some(({ data }) => JSON.stringify(data).includes('"usage":5')));
  expect(feed.events.filter(({ event: name }) => name === 'paused')).toHaveLength(1);
  expect(feed.events.at(-1)).toMatchObject({ event: 'pace', data: SHOWS_THE_CALL });
  expect(feed.ended()).toBeUndefined();
});

test('a Postgres that hangs pauses the feed, too, and it goes on afterwards', async () => {
  const database = await createDatabase();
  const proxy = await startTcpRelay(database.url);
  cleanUps.push(
    () => database.drop(),
    () => proxy.close(),
  );
  const suite = await startAccount({ databaseUrl: database.url, settings: { DATABASE_URL: proxy.url } });
  cleanUps.push(() => suite.close());
  const { feed, event } = await followNewCustomer(suite);
  proxy.pause();
  expect((await feed.next()).event).toBe('paused');
  await appendBatch(suite.store, [event]);
  proxy.resume();
  await waitFor(() => feed.events.some(({ data }) => JSON.stringify(data).includes('"usage":5')));
});

test('while Redis is away a feed keeps its figures, and shows what is counted afterwards', async () => {
  const suite = await startAccount();
  cleanUps.push(() => suite.close());
  const { feed, event } = await followNewCustomer(suite);
  await suite.redis.kill();
  await suite.redis.restart();
  await waitFor(() => suite.store.status === 'ready');
  await appendBatch(suite.store, [event]);
  expect(await feed.next(({ data }) => JSON.stringify(data).includes('"usage":5'))).toMatchObject({
    event: 'pace',
  });
});
