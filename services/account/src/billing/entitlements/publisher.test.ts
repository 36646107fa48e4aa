import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ENTITLEMENT_CHANNEL, entitlementEventSchema } from '@tollgate/contracts/entitlement';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { accountMetric } from '../../../test/suite/metrics.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import { sessionsOf } from '../../../test/suite/database/sessions.ts';

let suite: AccountUnderTest;
let subscriber: RedisConnection;
let replicas: ServiceProcess[];
let told: number[];

beforeAll(async () => {
  suite = await startAccount();
  // A reply comes after the messages of 20,000 events, which take longer to read on a busy machine.
  subscriber = openRedis(suite.redis.url, createLogger('suite', 'silent'), { commandTimeoutMs: 0 });
  subscriber.on('message', (channel: string, message: string) => {
    expect(channel).toBe(ENTITLEMENT_CHANNEL);
    told.push(entitlementEventSchema.strict().parse(JSON.parse(message)).account_id);
  });
});

afterAll(async () => {
  subscriber.disconnect();
  await suite.close();
});

beforeEach(async () => {
  await waitFor(() => subscriber.status === 'ready' && suite.store.status === 'ready');
  await subscriber.subscribe(ENTITLEMENT_CHANNEL);
  await waitFor(async () => (await waiting()) === 0);
  [told, replicas] = [[], []];
});

afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
});

const waiting = async () => (await suite.database('entitlement_outbox').select()).length;

const listeners = () =>
  sessionsOf(suite.database)
    .where({ application_name: 'tollgate listens', state: 'idle' })
    .pluck<number[]>('pid');

async function block(accountId: number): Promise<void> {
  await suite.database('accounts').where({ account_id: accountId }).update({ blocked_at: new Date() });
}

test('a change is told of, and its row goes', async () => {
  const published = () => accountMetric(suite.account, 'tollgate_entitlement_outbox_published_total');
  const publishedBefore = await published();
  const account_id = await insertAccount(suite.database);
  await insertPeriod(suite.database, account_id);
  await waitFor(() => told.includes(account_id));
  await waitFor(async () => (await waiting()) === 0);
  await waitFor(
    async () => (await accountMetric(suite.account, 'tollgate_entitlement_outbox_pending')) === 0,
  );
  expect((await published()) - publishedBefore).toBe(told.length);
});

test('one change of 10,000 accounts in one transaction tells of each', async () => {
  const ids = await suite.database.transaction(async (transaction) => {
    const { rows } = await transaction.raw<{ rows: { account_id: number }[] }>(
      `INSERT INTO accounts (email, name, password_hash)
       SELECT 'bulk-' || number || '@example.com', 'Bulk', 'none' FROM generate_series(1, 10000) AS number
       RETURNING account_id`,
    );
    // A busy machine may need longer than the suite's limit for a statement.
    await transaction.raw('SET LOCAL statement_timeout = 0');
    // Two statements change each account twice.
    for (const blocked of ['now()', 'NULL']) {
      await transaction.raw(`UPDATE accounts SET blocked_at = ${blocked} WHERE email LIKE 'bulk-%'`);
    }
    return rows.map(({ account_id }) => account_id);
  });
  await waitFor(() => new Set(told).size >= ids.length);
  expect(new Set(told)).toEqual(new Set(ids));
  await waitFor(async () => (await waiting()) === 0);
});

test('a LISTEN connection that is cut loses no event, and is made again', async () => {
  const account_id = await insertAccount(suite.database);
  const cut = await waitFor(async () => (await listeners())[0]);
  await suite.database.raw('SELECT pg_terminate_backend(?)', [cut]);
  await block(account_id);
  await waitFor(() => told.includes(account_id));
  await waitFor(async () => {
    const pids = await listeners();
    return pids.length === 1 && pids[0] !== cut;
  });
});

test('Redis away: events wait, are counted as such, and are told when it is back', async () => {
  const ids = [await insertAccount(suite.database), await insertAccount(suite.database)];
  const complaints = () => suite.account.logs().split('entitlement events cannot be published').length - 1;
  const complaintsBefore = complaints();
  await suite.redis.kill();
  for (const id of ids) await block(id);
  await waitFor(
    async () => (await accountMetric(suite.account, 'tollgate_entitlement_outbox_pending')) === 2,
  );
  const age = () => accountMetric(suite.account, 'tollgate_entitlement_outbox_oldest_age_seconds');
  await waitFor(async () => (await age()) > 1);
  await suite.redis.restart();
  await waitFor(async () => (await waiting()) === 0);
  await waitFor(() => suite.account.logs().includes('entitlement events are being published again'));
  expect(complaints() - complaintsBefore).toBe(1);
});

test('killed -9 between the event and its end: it is told of again', async () => {
  const account_id = await insertAccount(suite.database);
  // Redis accepts commands that write or publish, and doesn't reply until it is unpaused.
  await suite.store.client('PAUSE', 60_000, 'WRITE');
  await block(account_id);
  await waitFor(() =>
    sessionsOf(suite.database)
      .where({ state: 'idle in transaction' })
      .whereLike('query', '%FROM team_members AS manager%')
      .first(),
  );
  await suite.account.kill();
  expect(await waiting()).toBe(1);
  await suite.store.client('UNPAUSE');
  await suite.account.restart();
  await waitFor(() => told.includes(account_id));
  await waitFor(async () => (await waiting()) === 0);
});

test('three replicas tell of everything together, one of them killed -9 meanwhile', async () => {
  for (let count = 0; count < 2; count += 1) {
    replicas.push(await startServiceProcess('account', suite.settings));
  }
  await Promise.all(replicas.map(becomeReady));
  const ids: number[] = [];
  for (let count = 0; count < 300; count += 1) {
    const id = await insertAccount(suite.database);
    ids.push(id);
    await block(id);
    if (count === 150) await replicas[0]?.kill();
  }
  await waitFor(() => ids.every((id) => told.includes(id)));
  await waitFor(async () => (await waiting()) === 0);
});

test('all sessions of Postgres cut at once: what is changed then is told of', async () => {
  const account_id = await insertAccount(suite.database);
  await suite.database
    .raw(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
    .catch(() => undefined);
  await waitFor(async () => {
    await block(account_id);
    return true;
  });
  await waitFor(() => told.includes(account_id));
});
