import { afterEach, expect, test } from '@jest/globals';
import { withClient } from '@tollgate/stack/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import { startPostgres, startPostgresPair } from '@tollgate/testbed/postgres';
import { becomeReady } from '@tollgate/testbed/service-process';
import { openDatabase } from '../src/platform/database/database.ts';
import { createPostgresServer } from '../src/platform/database/postgres-server.ts';
import { createQuery, sqlState } from '../src/platform/database/query.ts';
import { createLogger } from '@tollgate/log';
import { startAccount } from './suite/account-under-test.ts';
import { insertAccount, insertApplication, insertPeriod } from './suite/database/records.ts';
import { startTcpRelay } from '@tollgate/testbed/tcp-relay';
import { obtainToken, getUsage } from './suite/requests.ts';
import { runProgram } from './suite/programs.ts';
import { appendBatch, usageEvent } from './suite/usage/usage-streams.ts';

/** A primary that becomes read-only while its connections survive, as in a switch-over. */

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const setReadOnly = (url: string, value: 'on' | 'off') =>
  withClient(url, async (client) => {
    await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await client.query('SELECT pg_reload_conf()');
  });

const countedRequests = (url: string) =>
  withClient(url, async (client) => {
    const sql = 'SELECT CAST(coalesce(sum(requests), 0) AS int) AS requests FROM usage_totals';
    const { rows } = await client.query<{ requests: number }>(sql);
    return rows[0]?.requests;
  });

async function promote(url: string): Promise<void> {
  await withClient(url, (client) => client.query('SELECT pg_promote()'));
}

async function pair() {
  const { primary, standby } = await startPostgresPair();
  cleanUps.push(
    () => primary.stop(),
    () => standby.stop(),
  );
  return { primary, standby };
}

test('account moves its connections to the new primary behind the same address, and writes there', async () => {
  const { primary, standby } = await pair();
  const address = await startTcpRelay(primary.url);
  cleanUps.push(() => address.close());
  const suite = await startAccount({ databaseUrl: primary.url, settings: { DATABASE_URL: address.url } });
  cleanUps.push(() => suite.close());
  const account_id = await insertAccount(suite.database);
  const period_id = await insertPeriod(suite.database, account_id);
  const event = usageEvent({ account_id, payer_id: account_id, period_id });
  await appendBatch(suite.store, [event]);
  await waitFor(async () => (await countedRequests(standby.url)) === 1);

  await setReadOnly(primary.url, 'on');
  const readiness = async () => {
    const response = await fetch(`${suite.account.privateUrl}/health/ready`);
    return [response.status, ((await response.json()) as { checks: { postgres: string } }).checks.postgres];
  };
  await waitFor(async () => (await readiness())[0] === 503);
  expect(await readiness()).toEqual([503, 'Postgres is read-only.']);

  await promote(standby.url);
  address.moveTo(standby.url);
  await becomeReady(suite.account);
  await appendBatch(suite.store, [event]);
  await waitFor(async () => (await countedRequests(standby.url)) === 2);
  expect(await countedRequests(primary.url)).toBe(1);
});

test('of several hosts the one that takes writes is used, also after a switch-over', async () => {
  const { primary, standby } = await pair();
  const url = new URL(primary.url);
  const hosts = [standby.url, primary.url].map((each) => new URL(each).host).join(',');
  const both = primary.url.replace(url.host, hosts);
  const migration = await runProgram('programs/migrate', { DATABASE_URL: both });
  expect(migration).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('nothing to migrate') as unknown,
  });
  const suite = await startAccount({ databaseUrl: primary.url, settings: { DATABASE_URL: both } });
  cleanUps.push(() => suite.close());
  const account_id = await insertAccount(suite.database);
  const period_id = await insertPeriod(suite.database, account_id);
  const application = await insertApplication(suite.database, account_id);
  const event = usageEvent({ account_id, payer_id: account_id, period_id });
  await appendBatch(suite.store, [event]);
  await waitFor(async () => (await countedRequests(standby.url)) === 1);

  await setReadOnly(primary.url, 'on');
  await promote(standby.url);
  await becomeReady(suite.account);
  await appendBatch(suite.store, [event]);
  await waitFor(async () => (await countedRequests(standby.url)) === 2);
  const token = await obtainToken(suite.auth, application);
  expect((await getUsage(suite.account, token)).status).toBe(200);

  // One of them away, as after a lost machine.
  await primary.kill();
  await appendBatch(suite.store, [event]);
  await waitFor(async () => (await countedRequests(standby.url)) === 3);
});

test('where no host takes writes, the error names each', async () => {
  const { standby } = await pair();
  const { host } = new URL(standby.url);
  const url = standby.url.replace(host, `${host},127.0.0.1:1`);
  const { code, stdout } = await runProgram('programs/migrate', { DATABASE_URL: url });
  expect(code).toBe(1);
  expect(stdout).toContain(`Postgres at ${host}: it is read-only; Postgres at 127.0.0.1:1: `);
});

test('all connections of a process are replaced at the first write that is refused', async () => {
  const postgres = await startPostgres();
  cleanUps.push(() => postgres.stop());
  const server = createPostgresServer({ url: postgres.url, connectionMaxAgeMs: 300_000 });
  const options = { server, poolMax: 1, acquireTimeoutMs: 5_000, statementTimeoutMs: 5_000 };
  const logger = createLogger('suite', 'silent');
  const databases = [openDatabase({ ...options, logger }), openDatabase({ ...options, logger })];
  cleanUps.push(() => Promise.all(databases.map((each) => each.destroy())));
  const [one, other] = databases.map(createQuery) as [
    ReturnType<typeof createQuery>,
    ReturnType<typeof createQuery>,
  ];
  const sessions = async () =>
    Promise.all(
      [one, other].map(
        async (query) => (await query<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid,
      ),
    );
  const before = await sessions();
  expect(await sessions()).toEqual(before);
  await setReadOnly(postgres.url, 'on');
  await waitFor(async () =>
    (await one('SHOW transaction_read_only').then(([row]) => JSON.stringify(row))).includes('on'),
  );
  const refused: unknown = await one('CREATE TABLE refused ()').catch((error: unknown) => error);
  expect(sqlState(refused)).toBe('25006');
  const after = await sessions();
  for (const [index, pid] of after.entries()) expect(pid).not.toBe(before[index]);
});

test('a connection is replaced once it has its maximum age', async () => {
  const { url, drop } = await createDatabase();
  cleanUps.push(drop);
  const server = createPostgresServer({ url, connectionMaxAgeMs: 1 });
  const limits = { poolMax: 1, acquireTimeoutMs: 5_000, statementTimeoutMs: 5_000 };
  const database = openDatabase({ server, ...limits, logger: createLogger('suite', 'silent') });
  cleanUps.push(() => database.destroy());
  const session = async () =>
    (await createQuery(database)<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid;
  const first = await session();
  await waitFor(async () => (await session()) !== first);
});
