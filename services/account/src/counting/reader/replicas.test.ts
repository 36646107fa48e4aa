import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { USAGE_SHARD_COUNT, usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { accountMetric } from '../../../test/suite/metrics.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import {
  allCounted,
  appendBatch,
  countedUsage,
  sumOf,
  usageEvent,
} from '../../../test/suite/usage/usage-streams.ts';

let suite: AccountUnderTest;
/** Replicas beside suite.account; a test takes over those that the one before has left running. */
let replicas: ServiceProcess[] = [];

beforeAll(async () => {
  suite = await startAccount();
});

afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await suite.close();
});

beforeEach(async () => {
  await suite.database.raw('TRUNCATE usage_totals, usage_hourly, usage_unassigned');
});

/** Starts or stops replicas until there are so many beside suite.account. */
async function haveReplicas(count: number): Promise<void> {
  const surplus = replicas.splice(count);
  await Promise.all(surplus.map((replica) => replica.stop()));
  const missing = Array.from({ length: count - replicas.length }, async () => {
    const replica = await startServiceProcess('account', suite.settings);
    replicas.push(replica);
    await becomeReady(replica);
  });
  await Promise.all(missing);
}

/** One event of each of so many payers, who lie in as many streams. */
async function newPayers(count: number): Promise<UsageEvent[]> {
  const events: UsageEvent[] = [];
  for (let made = 0; made < count; made += 1) {
    const account_id = await insertAccount(suite.database);
    const period_id = await insertPeriod(suite.database, account_id);
    events.push(usageEvent({ payer_id: account_id, account_id, period_id }));
  }
  return events;
}

/** Uncounted entries of a stream at which sending pauses: more would only take time to count at the end. */
const MAX_BACKLOG = 20;

/** Sends batches of every payer until stopped; resolves with all events that were sent. */
function sendUnderLoad(events: readonly UsageEvent[]): { stop: () => Promise<UsageEvent[]> } {
  const sent: UsageEvent[] = [];
  const over = new AbortController();
  const sendFor = async (event: UsageEvent) => {
    const stream = usageStreamKey(usageShard(event.payer_id));
    const hasRoom = async () => over.signal.aborted || (await suite.store.xlen(stream)) < MAX_BACKLOG;
    while (!over.signal.aborted) {
      await appendBatch(suite.store, [event]);
      sent.push(event);
      await waitFor(hasRoom, { intervalMs: 100 });
    }
  };
  const sending = Promise.all(events.map(sendFor));
  return {
    stop: async () => {
      over.abort();
      await sending;
      return sent;
    },
  };
}

const shareOf = (process: ServiceProcess) => accountMetric(process, 'tollgate_usage_reader_streams');
const countedBy = (process: ServiceProcess) => accountMetric(process, 'tollgate_usage_reader_entries_total');
const counted = async () => (await countedUsage(suite.database)).totals.requests;

async function sharesAre(...expected: number[]): Promise<void> {
  await waitFor(
    async () => {
      const shares = await Promise.all([suite.account, ...replicas].map(shareOf));
      return shares.toSorted().join() === expected.toSorted().join();
    },
    { intervalMs: 100, what: `shares of ${expected.join()}` },
  );
}

async function expectExactly(events: readonly UsageEvent[]): Promise<void> {
  await allCounted(suite);
  const { totals, hourly } = await countedUsage(suite.database);
  expect([totals, hourly]).toEqual([sumOf(events), sumOf(events)]);
  expect(await suite.database('usage_unassigned')).toEqual([]);
}

test('replicas have fair shares, whether one comes or is stopped, and all of them count', async () => {
  await haveReplicas(0);
  await sharesAre(64);
  await haveReplicas(1);
  await sharesAre(32, 32);
  await haveReplicas(2);
  await sharesAre(22, 21, 21);
  const load = sendUnderLoad(await newPayers(64));
  for (const process of [suite.account, ...replicas])
    await waitFor(async () => (await countedBy(process)) > 0);
  await haveReplicas(1);
  await sharesAre(32, 32);
  await expectExactly(await load.stop());
});

test('kill -9 of one of two under load: the other takes over its streams, and all counts once', async () => {
  await haveReplicas(1);
  const [replica] = replicas as [ServiceProcess];
  await sharesAre(32, 32);
  const load = sendUnderLoad(await newPayers(64));
  await waitFor(async () => (await countedBy(replica)) > 0);
  await replica.kill();
  replicas = [];
  await sharesAre(64);
  await expectExactly(await load.stop());
});

test.each([
  ['alone', 0, [64]],
  ['beside another', 1, [32, 32]],
])(
  'kill -9 and a restart, %s: its lease ends within two seconds, and all counts once',
  async (_name, others, shares) => {
    await haveReplicas(others);
    await sharesAre(...shares);
    const load = sendUnderLoad(await newPayers(64));
    await waitFor(async () => (await countedBy(suite.account)) > 0);
    await suite.account.kill();
    const leases = await suite.database.raw<{ rows: { rest_ms: number }[] }>(
      `SELECT CAST(extract(epoch FROM alive_until - clock_timestamp()) * 1000 AS float8) AS rest_ms FROM usage_readers`,
    );
    expect(Math.max(...leases.rows.map(({ rest_ms }) => rest_ms))).toBeLessThanOrEqual(2_000);
    await suite.account.restart();
    await sharesAre(...shares);
    await expectExactly(await load.stop());
  },
);

test('replicas that all take all streams, since none sees another, count each batch once', async () => {
  await suite.database.raw(`
    CREATE FUNCTION lease_is_broken() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.alive_until := now() - interval '1 second'; RETURN NEW; END $$;
    CREATE TRIGGER lease_is_broken BEFORE INSERT OR UPDATE ON usage_readers
      FOR EACH ROW EXECUTE FUNCTION lease_is_broken()`);
  await haveReplicas(2);
  await sharesAre(64, 64, 64);
  const load = sendUnderLoad(await newPayers(16));
  for (const process of [suite.account, ...replicas]) {
    const before = await countedBy(process);
    await waitFor(async () => (await countedBy(process)) > before);
  }
  await expectExactly(await load.stop());
  await suite.database.raw('DROP FUNCTION lease_is_broken CASCADE');
});

test('a stream that another session holds, and a payer whose row is locked, hold up no other', async () => {
  await haveReplicas(0);
  await sharesAre(64);
  const all = await newPayers(64);
  const [held, locked] = [all[0], all[1]] as [UsageEvent, UsageEvent];
  // All counted once, so that there is a row to lock.
  await Promise.all(all.map((event) => appendBatch(suite.store, [event])));
  await allCounted(suite);
  const others = all.filter(({ payer_id }) => payer_id !== held.payer_id && payer_id !== locked.payer_id);
  await suite.database.transaction(async (transaction) => {
    const stream = usageStreamKey(usageShard(held.payer_id));
    await transaction('usage_stream_positions').where({ stream }).forUpdate();
    await transaction('usage_totals').where({ period_id: locked.period_id }).forUpdate();
    await Promise.all(all.map((event) => appendBatch(suite.store, [event])));
    await waitFor(async () => (await counted()) === USAGE_SHARD_COUNT + others.length);
  });
  await expectExactly([...all, ...all]);
});

test('a position that was set back is counted from there, not from where the reader had been', async () => {
  const [event] = (await newPayers(1)) as [UsageEvent];
  const stream = usageStreamKey(usageShard(event.payer_id));
  await appendBatch(suite.store, [event]);
  await allCounted(suite);
  await suite.database('usage_stream_positions').where({ stream }).update({ position: '0-0' });
  await appendBatch(suite.store, [event]);
  await expectExactly([event, event]);
});
