import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { ENTITLEMENT_CHANNEL, entitlementKey, entitlementSchema } from '@tollgate/contracts/entitlement';
import type { Entitlement } from '@tollgate/contracts/entitlement';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { Redis, RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  insertAccount,
  insertPeriod,
  insertTeam,
  secondsFromNow,
} from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { createKeptAnswers } from './kept-answers.ts';
import type { KeptAnswers } from './kept-answers.ts';

let suite: AccountUnderTest;
let subscriber: RedisConnection;
let keptAnswers: KeptAnswers;

beforeAll(async () => {
  suite = await startAccount();
  keptAnswers = createKeptAnswers(suite.store, new Registry());
  subscriber = openRedis(suite.redis.url, createLogger('suite', 'silent'));
  await waitFor(() => subscriber.status === 'ready');
  await subscriber.subscribe(ENTITLEMENT_CHANNEL);
});

afterAll(async () => {
  subscriber.disconnect();
  await suite.close();
});

beforeEach(() => {
  subscriber.removeAllListeners('message');
});

async function ask(accountId: number): Promise<Entitlement> {
  const response = await getPrivate(suite.account, `/private/entitlements/${String(accountId)}`);
  return entitlementSchema.parse(await response.json());
}

const fieldsOf = (accountId: number) => suite.store.hgetall(entitlementKey(accountId));

async function kept(accountId: number): Promise<Entitlement | undefined> {
  const { answer } = await fieldsOf(accountId);
  return answer === undefined ? undefined : entitlementSchema.parse(JSON.parse(answer));
}

/** All that was inserted is published: later changes alone drop what is kept. */
async function published(): Promise<void> {
  await waitFor(async () => (await suite.database('entitlement_outbox').select()).length === 0);
}

async function newPayer(changes: Parameters<typeof insertPeriod>[2] = {}): Promise<number> {
  const account_id = await insertAccount(suite.database);
  await insertPeriod(suite.database, account_id, changes);
  await published();
  return account_id;
}

async function askAndKeep(accountId: number): Promise<void> {
  await ask(accountId);
  await waitFor(async () => (await kept(accountId)) !== undefined);
}

const block = (accountId: number) =>
  suite.database('accounts').where({ account_id: accountId }).update({ blocked_at: new Date() });

test('an answer that lets calls pass is kept for some minutes, by its generation and with its lifetime', async () => {
  const account_id = await newPayer();
  const answer = await ask(account_id);
  await waitFor(async () => (await kept(account_id)) !== undefined);
  expect(await kept(account_id)).toEqual(answer);
  const { generation, kept_for_ms } = await fieldsOf(account_id);
  expect(generation).toMatch(/^[0-9a-f]{40}:/);
  const leftMs = await suite.store.pttl(entitlementKey(account_id));
  expect(leftMs).toBeGreaterThan(200_000);
  expect(leftMs).toBeLessThanOrEqual(Number(kept_for_ms));
  expect(Number(kept_for_ms)).toBeLessThanOrEqual(300_000);
});

test('no answer is kept past the moment at which time alone changes it', async () => {
  const account_id = await newPayer({ ended_at: secondsFromNow(30), grace_sec: 0 });
  await askAndKeep(account_id);
  expect(await suite.store.pttl(entitlementKey(account_id))).toBeLessThanOrEqual(31_000);
});

test('a refusal is not kept, so that a payment takes effect at once', async () => {
  const account_id = await newPayer();
  await block(account_id);
  await published();
  expect((await ask(account_id)).status).toBe('blocked');
  await ask(account_id);
  expect(await kept(account_id)).toBeUndefined();
  expect((await getPrivate(suite.account, '/private/entitlements/999999')).status).toBe(404);
  expect(await kept(999_999)).toBeUndefined();
});

test('the payer’s answer and its members’ are deleted before the change is published', async () => {
  const [payer, member, other] = [await newPayer(), await newPayer(), await newPayer()];
  await insertTeam(suite.database, payer, member);
  await published();
  for (const account_id of [payer, member, other]) await askAndKeep(account_id);
  const commands: string[] = [];
  const monitor = await (suite.store as Redis).monitor();
  monitor.on('monitor', (_time: string, [command = '', key = '']: string[]) => {
    commands.push(`${command.toLowerCase()} ${key}`);
  });
  await block(payer);
  await waitFor(() => commands.includes(`publish ${ENTITLEMENT_CHANNEL}`));
  monitor.disconnect();
  const untilPublished = commands.slice(0, commands.indexOf(`publish ${ENTITLEMENT_CHANNEL}`));
  expect(untilPublished).toContain(`del ${entitlementKey(payer)}`);
  expect(untilPublished).toContain(`del ${entitlementKey(member)}`);
  expect(await kept(other)).toBeDefined();
  expect((await ask(member)).status).toBe('blocked');
});

test('an answer that a change has overtaken is not kept', async () => {
  const account_id = await newPayer();
  const generation = await keptAnswers.begin(account_id);
  const askedMs = performance.now();
  const before = await ask(account_id);
  await block(account_id);
  await waitFor(async () => (await fieldsOf(account_id))['generation'] !== generation);
  await keptAnswers.keep(before, { generation, askedMs });
  expect(await kept(account_id)).toBeUndefined();
});

test('an answer of a Redis that has lost data since is not kept', async () => {
  const account_id = await newPayer();
  const answer = await ask(account_id);
  const generation = await keptAnswers.begin(account_id);
  const lost = `${'0'.repeat(40)}${generation.slice(40)}`;
  await suite.store.hset(entitlementKey(account_id), 'generation', lost);
  await suite.store.hdel(entitlementKey(account_id), 'answer');
  await keptAnswers.keep(answer, { generation: lost, askedMs: performance.now() });
  expect(await kept(account_id)).toBeUndefined();
  expect(await keptAnswers.begin(account_id)).not.toBe(lost);
});

test('however reads and changes meet, nothing older than a published change is read', async () => {
  const CHANGES = 60;
  const account_id = await newPayer({ description: { points_limit: 0 } });
  let told = 0;
  let committed = 0;
  subscriber.on('message', () => {
    told += 1;
  });
  const older: string[] = [];
  let running = true;
  const reader = async () => {
    while (running) {
      const least = told === committed ? committed : 0;
      const limit = (await kept(account_id))?.billing_period?.limits.points_limit ?? CHANGES;
      if (limit < least) older.push(`${String(limit)} was read after ${String(least)} was published`);
      const generation = await keptAnswers.begin(account_id);
      const read = { generation, askedMs: performance.now() };
      const answer = await ask(account_id);
      // As a busy account may.
      await delay(Math.random() * 20);
      await keptAnswers.keep(answer, read);
    }
  };
  const readers = Array.from({ length: 4 }, reader);
  for (let limit = 1; limit <= CHANGES; limit += 1) {
    await suite
      .database('billing_periods')
      .where({ account_id })
      .update({ description: { points_limit: limit } });
    committed = limit;
    await waitFor(() => told >= limit, { intervalMs: 1 });
  }
  running = false;
  await Promise.all(readers);
  expect(older).toEqual([]);
  expect((await kept(account_id))?.billing_period?.limits.points_limit ?? CHANGES).toBe(CHANGES);
});

test('without Redis account still answers', async () => {
  const account_id = await newPayer();
  await suite.redis.kill();
  await waitFor(async () => (await getPrivate(suite.account, '/health/ready')).status === 503);
  expect((await ask(account_id)).status).toBe('active');
});
