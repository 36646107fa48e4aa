import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import {
  allCounted,
  appendBatch,
  countedUsage,
  sumOf,
  usageEvent,
  usedOperation,
} from '../../../test/suite/usage/usage-streams.ts';
import { sessionsOf } from '../../../test/suite/database/sessions.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount();
});

afterAll(async () => {
  await suite.close();
});

beforeEach(async () => {
  await suite.database.raw('TRUNCATE usage_totals, usage_hourly, usage_operations, usage_unassigned');
});

type Payer = { payer_id: number; account_id: number; period_id: number };

async function newPayers(count: number): Promise<Payer[]> {
  const payers: Payer[] = [];
  for (let made = 0; made < count; made += 1) {
    const account_id = await insertAccount(suite.database);
    payers.push({
      payer_id: account_id,
      account_id,
      period_id: await insertPeriod(suite.database, account_id),
    });
  }
  return payers;
}

/** Events of one payer, over some hours and applications, of more operations than are kept for a day. */
function newEvents(payer: Payer, count: number): UsageEvent[] {
  return Array.from({ length: count }, () => {
    const points = randomInt(0, 100);
    return usageEvent({
      ...payer,
      application_id: randomInt(1, 4),
      points,
      operations: [usedOperation(randomInt(0, 250), { points: randomInt(0, points + 1) })],
      time_ms: randomInt(0, 5_000),
      traffic_bytes: randomInt(0, 1_000_000),
      at_ms: Date.now() - randomInt(0, 10_000_000),
    });
  });
}

/** Writes batches of the payers' events, some at a time, and returns all of them. */
async function writeBatches(payers: readonly Payer[], batches: number): Promise<UsageEvent[]> {
  const written: UsageEvent[] = [];
  for (let seq = 1; seq <= batches; seq += 1) {
    const parts = payers.map((payer) => newEvents(payer, randomInt(1, 5)));
    await Promise.all(parts.map((events) => appendBatch(suite.store, events)));
    written.push(...parts.flat());
  }
  return written;
}

async function expectExactly(events: readonly UsageEvent[]): Promise<void> {
  await allCounted(suite);
  const { totals, hourly, operations } = await countedUsage(suite.database);
  expect(totals).toEqual(sumOf(events));
  expect(hourly).toEqual(sumOf(events));
  expect(operations).toMatchObject({ points: totals.points, requests: totals.requests });
  expect(await suite.database('usage_unassigned')).toEqual([]);
}

test('usage is counted once though account is killed -9 again and again while it counts', async () => {
  const payers = await newPayers(8);
  const kills = 6;
  let counted = 0;
  const events: UsageEvent[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const writing = writeBatches(payers, 60);
    // Killed at some moment of its counting, not before it has begun.
    await waitFor(async () => (await countedUsage(suite.database)).totals.requests > counted, {
      intervalMs: 1,
      what: 'account to count',
    });
    await suite.account.kill();
    events.push(...(await writing));
    counted = (await countedUsage(suite.database)).totals.requests;
    await suite.account.restart();
  }
  expect(events.length).toBeGreaterThan(5_000);
  await expectExactly(events);
});

/** Moments within a transaction, each stretched by a trigger so that a kill meets it. */
test.each([
  ['its counters', 'INSERT INTO usage_totals', 'TRIGGER dawdle BEFORE INSERT ON usage_totals', ''],
  [
    'its position',
    'WITH reached AS (%UPDATE usage_stream_positions',
    'TRIGGER dawdle BEFORE UPDATE ON usage_stream_positions',
    '',
  ],
  [
    'its commit',
    'COMMIT',
    'CONSTRAINT TRIGGER dawdle AFTER UPDATE ON usage_stream_positions',
    'DEFERRABLE INITIALLY DEFERRED',
  ],
])(
  'an account killed -9 while Postgres works on %s counts nothing twice',
  async (_name, statement, trigger, when) => {
    const payers = await newPayers(1);
    await suite.database.raw(`
      CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(0.3); RETURN NEW; END $$;
      CREATE ${trigger} ${when} FOR EACH ROW EXECUTE FUNCTION dawdle()`);
    const events: UsageEvent[] = [];
    for (let kill = 0; kill < 2; kill += 1) {
      events.push(...(await writeBatches(payers, 3)));
      await waitFor(
        () =>
          sessionsOf(suite.database).where({ state: 'active' }).whereLike('query', `${statement}%`).first(),
        { intervalMs: 2, what: statement },
      );
      await suite.account.kill();
      await suite.account.restart();
    }
    await suite.database.raw('DROP FUNCTION dawdle CASCADE');
    await expectExactly(events);
  },
);

test('usage is counted once by two replicas that read at the same time, one of them killed -9', async () => {
  const payers = await newPayers(8);
  const replica = await startServiceProcess('account', suite.settings);
  await becomeReady(replica);
  const events = await writeBatches(payers, 150);
  await expectExactly(events);

  const more = writeBatches(payers, 150);
  await waitFor(async () => (await countedUsage(suite.database)).totals.requests > events.length);
  await replica.kill();
  await expectExactly([...events, ...(await more)]);
});

test('a shutdown in the midst of it ends cleanly and loses nothing', async () => {
  const payers = await newPayers(4);
  const writing = writeBatches(payers, 100);
  await waitFor(async () => (await countedUsage(suite.database)).totals.requests > 0, { intervalMs: 1 });
  expect(await suite.account.stop()).toEqual({ code: 0, signal: null });
  const events = await writing;
  await suite.account.restart();
  await expectExactly(events);
});
