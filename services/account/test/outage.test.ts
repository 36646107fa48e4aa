import { afterEach, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import { startPostgres } from '@tollgate/testbed/postgres';
import { startRedis } from '@tollgate/testbed/redis';
import { becomeReady } from '@tollgate/testbed/service-process';
import { startAccount } from './suite/account-under-test.ts';
import type { AccountUnderTest } from './suite/account-under-test.ts';
import { startTcpRelay } from '@tollgate/testbed/tcp-relay';
import { insertAccount, insertApplication, insertPeriod } from './suite/database/records.ts';
import { getPrivate, getUsage, obtainToken } from './suite/requests.ts';
import { allCounted, appendBatch, countedUsage, usageEvent } from './suite/usage/usage-streams.ts';

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function newCaller(suite: AccountUnderTest) {
  const account_id = await insertAccount(suite.database);
  const period_id = await insertPeriod(suite.database, account_id);
  const application = await insertApplication(suite.database, account_id);
  const token = await obtainToken(suite.auth, application);
  expect((await getUsage(suite.account, token)).status).toBe(200);
  return {
    account_id,
    period_id,
    application,
    token,
    event: usageEvent({ account_id, payer_id: account_id, period_id }),
  };
}

async function readiness({ account }: AccountUnderTest): Promise<unknown> {
  const response = await fetch(`${account.privateUrl}/health/ready`);
  return [response.status, ((await response.json()) as { checks: unknown }).checks];
}

async function expectUnavailable(response: Response): Promise<void> {
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const problem = await response.text();
  expect(JSON.parse(problem)).toMatchObject({ code: 'service_unavailable' });
  expect(problem).not.toMatch(/postgres|redis|127\.0\.0\.1|ECONN|stack/i);
}

const occurrences = (text: string, part: string) => text.split(part).length - 1;

test('while Postgres is away calls get 503, usage waits, and all returns by itself', async () => {
  const postgres = await startPostgres();
  cleanUps.push(() => postgres.stop());
  const suite = await startAccount({ databaseUrl: postgres.url });
  cleanUps.push(() => suite.close());
  const caller = await newCaller(suite);
  await appendBatch(suite.store, [caller.event]);
  await allCounted(suite);

  await postgres.kill();
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await expectUnavailable(await getUsage(suite.account, caller.token));
    await expectUnavailable(
      await getPrivate(suite.account, `/private/entitlements/${String(caller.account_id)}`),
    );
    await expectUnavailable(
      await getPrivate(suite.account, `/private/clients/${caller.application.client_id}`),
    );
    await appendBatch(suite.store, [caller.event]);
  }
  expect(await readiness(suite)).toEqual([503, { postgres: 'unreachable', redis: 'ok' }]);
  expect((await fetch(`${suite.account.privateUrl}/health/live`)).status).toBe(200);

  await postgres.restart();
  await becomeReady(suite.account);
  expect((await getUsage(suite.account, caller.token)).status).toBe(200);
  await allCounted(suite);
  expect((await countedUsage(suite.database)).totals.requests).toBe(4);
  expect(occurrences(suite.account.logs(), 'usage cannot be counted')).toBe(1);
  expect(occurrences(suite.account.logs(), 'usage is being counted again')).toBe(1);
});

test('a Postgres that hangs costs 503 in bounded time, not a hang, and nothing is counted twice', async () => {
  const database = await createDatabase();
  const proxy = await startTcpRelay(database.url);
  cleanUps.push(
    () => database.drop(),
    () => proxy.close(),
  );
  const suite = await startAccount({ databaseUrl: database.url, settings: { DATABASE_URL: proxy.url } });
  cleanUps.push(() => suite.close());
  const caller = await newCaller(suite);

  proxy.pause();
  await appendBatch(suite.store, [caller.event]);
  const timed = async (count: number) => {
    const startedMs = performance.now();
    const calls = Array.from({ length: count }, () => getUsage(suite.account, caller.token));
    return { responses: await Promise.all(calls), tookMs: performance.now() - startedMs };
  };
  const alone = await timed(1);
  const { responses, tookMs } = await timed(30);
  // They don't wait one after the other, be it for one connection.
  expect(tookMs).toBeLessThan(6 * alone.tookMs);
  for (const response of responses) await expectUnavailable(response);
  expect(await readiness(suite)).toEqual([503, { postgres: 'unreachable', redis: 'ok' }]);

  proxy.resume();
  await becomeReady(suite.account);
  expect((await getUsage(suite.account, caller.token)).status).toBe(200);
  await allCounted(suite);
  const { totals, hourly } = await countedUsage(suite.database);
  expect([totals.requests, hourly.requests]).toEqual([1, 1]);
});

test('while Redis is away account says so, still answers the others, and counts again by itself', async () => {
  const suite = await startAccount();
  cleanUps.push(() => suite.close());
  const caller = await newCaller(suite);
  await suite.redis.kill();
  await waitFor(async () => (await fetch(`${suite.account.privateUrl}/health/ready`)).status === 503);
  expect(await readiness(suite)).toEqual([503, { postgres: 'ok', redis: 'unreachable' }]);
  const entitlement = await getPrivate(suite.account, `/private/entitlements/${String(caller.account_id)}`);
  expect(entitlement.status).toBe(200);

  await suite.redis.restart();
  await becomeReady(suite.account);
  await waitFor(() => suite.store.status === 'ready');
  await appendBatch(suite.store, [caller.event]);
  await waitFor(async () => (await countedUsage(suite.database)).totals.requests === 1);
});

test('a connection to Redis on which nothing comes any more is given up, and usage is counted on a new one', async () => {
  const redis = await startRedis();
  const proxy = await startTcpRelay(redis.url);
  cleanUps.push(
    () => redis.stop(),
    () => proxy.close(),
  );
  const suite = await startAccount({ redis, settings: { REDIS_URL: proxy.url } });
  cleanUps.push(() => suite.close());
  const caller = await newCaller(suite);
  await appendBatch(suite.store, [caller.event]);
  await allCounted(suite);
  proxy.strand();
  await appendBatch(suite.store, [caller.event]);
  await waitFor(async () => (await countedUsage(suite.database)).totals.requests === 2);
});

test('while auth is away a token cannot be judged: 503, not 401, and it passes when auth is back', async () => {
  const suite = await startAccount();
  cleanUps.push(() => suite.close());
  const { application, token } = await newCaller(suite);
  const unseen = await obtainToken(suite.auth, application);
  await suite.auth.kill();
  await expectUnavailable(await getUsage(suite.account, unseen));
  // auth's recent response is still cached.
  expect((await getUsage(suite.account, token)).status).toBe(200);
  expect((await getUsage(suite.account, { authorization: 'Bearer nonsense' })).status).toBe(401);
  await suite.auth.restart();
  await waitFor(async () => (await getUsage(suite.account, unseen)).status === 200);
});

test('account starts while everything else is away, and takes up its work when it comes', async () => {
  const postgres = await startPostgres();
  cleanUps.push(() => postgres.stop());
  const suite = await startAccount({ databaseUrl: postgres.url });
  cleanUps.push(() => suite.close());
  const caller = await newCaller(suite);
  await suite.account.stop();
  await appendBatch(suite.store, [caller.event]);
  await Promise.all([postgres.kill(), suite.auth.kill()]);
  await suite.account.restart();
  await expectUnavailable(await getUsage(suite.account, caller.token));
  await Promise.all([postgres.restart(), suite.auth.restart()]);
  await becomeReady(suite.account);
  await waitFor(async () => (await getUsage(suite.account, caller.token)).status === 200);
  await allCounted(suite);
  expect((await countedUsage(suite.database)).totals.requests).toBe(1);
});
